package gpu

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

func TestDocumentationListsTheDRADrivers(t *testing.T) {
	words := map[dra.Kind]string{dra.GPU: "a GPU", dra.Part: "a part of a GPU", dra.VF: "a virtual function", dra.VFIO: "a GPU for virtual machines"}
	want, got := map[string]string{}, map[string]string{}
	for name, d := range draDrivers {
		for kind, counts := range d.types {
			want[name+" "+kind] = string(d.vendor) + " " + words[counts]
		}
		if d.types == nil {
			want[name+" any"] = string(d.vendor) + " " + words[dra.GPU]
		}
	}
	for _, row := range docTable(t, "dra.md", "DRA drivers", 0) {
		kinds := code(row[2])
		if strings.Contains(row[2], "none") {
			kinds = append(kinds, "")
		}
		if row[2] == "any" {
			kinds = []string{"any"}
		}
		for _, kind := range kinds {
			got[code(row[0])[0]+" "+kind] = row[1] + " " + row[3]
		}
	}
	documents(t, "DRA drivers", want, got)
}

func TestDocumentationListsTheHealthConditions(t *testing.T) {
	takes := map[faultScope]string{faultNode: "the node", faultMissing: "some GPUs"}
	want, got := map[string]string{}, map[string]string{}
	for name, f := range healthConditions {
		want[string(name)] = string(f.status) + ", " + takes[f.scope]
	}
	rows := docTable(t, "health.md", "Health conditions", 0)
	for i, name := range firsts(t, rows) {
		got[name] = rows[i][2] + ", " + rows[i][3]
	}
	documents(t, "health conditions", want, got)
}

func TestDocumentationListsTheReasonsInOrder(t *testing.T) {
	var want []string
	for _, c := range checks {
		want = append(want, string(c.reason))
	}
	documents(t, "reasons", append(want, string(v1.ReasonOK)), firsts(t, docTable(t, "readiness.md", "Reasons", 0)))
	_, states, _ := strings.Cut(docText(t, "readiness.md"), "States of a driver upgrade that take the GPUs away:")
	states, _, _ = strings.Cut(states, ". ")
	documents(t, "states of a driver upgrade", upgradeWindow, code(states))
}

func TestDocumentationListsTheWarnings(t *testing.T) {
	got := firsts(t, docTable(t, "readiness.md", "Warnings", 0))
	slices.Sort(got)
	documents(t, "warnings", constants(t, "../../api/v1", "Warning"), got)
}

func TestDocumentationListsTheFieldsThatEvidenceDecides(t *testing.T) {
	got := firsts(t, docTable(t, "recognition.md", "Fields that evidence decides", 0))
	slices.Sort(got)
	documents(t, "fields", slices.Sorted(maps.Values(stringConstants(t, "field"))), got)
}

func TestDocumentationListsTheSharingsAndModes(t *testing.T) {
	sharings := firsts(t, docTable(t, "sharing.md", "Sharing", 0))
	slices.Sort(sharings)
	documents(t, "sharing", constants(t, "../../api/v1", "Sharing"), sharings)
	var modes []string
	for _, row := range docTable(t, "sharing.md", "Workload mode", 0) {
		modes = append(modes, code(row[2])...)
	}
	slices.Sort(modes)
	documents(t, "workload modes", constants(t, "../../api/v1", "WorkloadMode"), slices.Compact(modes))
}

func TestDocumentationListsTheLimits(t *testing.T) {
	got := map[string]int64{}
	for _, row := range docTable(t, "recognition.md", "Limits", 0) {
		n, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			t.Error(err)
		}
		got[row[0]] = n
	}
	documents(t, "limits", map[string]int64{
		"physical GPUs, MIG instances of a profile or entries of a list, on one node": maxGPUs,
		"units of one resource": maxUnits, "replicas of one GPU": maxReplicas, "memory of one GPU, MiB": maxMiB,
		"bytes of a message or of a quoted value": maxText, "bytes of a product or variant": maxName,
		"rows of `gpus` on one node": maxGroups, "rows of `resources` on one node": maxResources,
	}, got)
}

func TestDocumentationListsHardware(t *testing.T) {
	vendors, vram := map[string]v1.Vendor{}, map[string]int64{}
	for _, row := range docTable(t, "nfd.md", "PCI vendors", 0) {
		vendors[code(row[0])[0]] = v1.Vendor(row[1])
	}
	documents(t, "PCI vendors", pciVendors, vendors)
	for _, row := range docTable(t, "amd.md", "Full memory of the cards", 0) {
		for _, id := range code(row[0]) {
			n, err := strconv.ParseInt(row[1], 10, 64)
			if err != nil {
				t.Error(err)
			}
			vram[id] = n
		}
	}
	documents(t, "full memory of AMD cards", amdFullVRAM, vram)
}

func TestDocumentationListsMachineTypesInOrder(t *testing.T) {
	want := []string{labelGKEAccelerator, labelGKECount, labelGKESharing, labelGKEClients, labelGKEPartition}
	for _, f := range machineLabels {
		want = append(want, f.name)
		for _, key := range []string{f.maker, f.count, f.memory} {
			if key != "" {
				want = append(want, key)
			}
		}
	}
	// A key that two families share has one row, after both.
	shared := "gpu.nvidia.com/count"
	want = append(slices.DeleteFunc(want, func(key string) bool { return key == shared }), shared)
	got := firsts(t, docTable(t, "clouds.md", "Machine types", 0))
	documents(t, "labels of machine types", append(want, presenceLabels...), got)
}

func TestDocumentationListsTheOperandsOfModes(t *testing.T) {
	rows := docTable(t, "sharing.md", "Workload mode", 0)
	for i, operands := range [][]string{operandsVGPU, operandsPassthrough, operandsContainer} {
		documents(t, "operands of a mode", operands, code(rows[i+2][1]))
	}
	var suffixes []string
	for _, row := range docTable(t, "nvidia.md", "MIG", 0) {
		if suffix, ok := strings.CutPrefix(code(row[0])[0], labelMIGPrefix+"<profile>"); ok {
			suffixes = append(suffixes, suffix)
		}
	}
	documents(t, "labels of MIG profiles", slices.Sorted(slices.Values(migSuffixes)), slices.Sorted(slices.Values(suffixes)))
}

func TestTheOverviewLinksEveryPage(t *testing.T) {
	overview := docText(t, "recognition.md")
	for _, page := range docPages(t) {
		if !strings.Contains(overview, "](recognition/"+page+")") {
			t.Errorf("docs/recognition.md has no link to %s", page)
		}
	}
}
