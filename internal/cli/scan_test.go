package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// scan is the inventory that scan prints as JSON.
func scan(t *testing.T, stdin string, args ...string) v1.GpuInventory {
	t.Helper()
	code, stdout, stderr := run(t, stdin, append([]string{"scan", "-o", "json"}, args...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var inv v1.GpuInventory
	if err := json.Unmarshal([]byte(stdout), &inv); err != nil {
		t.Fatal(err)
	}
	return inv
}

func TestScanOfTheHomelabFindsFourGpuNodesAndOneGpu(t *testing.T) {
	inv := scan(t, "", "-f", homelab)
	type totals struct{ Nodes, Ready, Gpus, Unknown *int32 }
	got := totals{inv.Status.TotalGpuNodes, inv.Status.ReadyGpuNodes, inv.Status.TotalGpus, inv.Status.UnknownGpuNodes}
	if diff := cmp.Diff(totals{new(int32(4)), new(int32(0)), new(int32(1)), new(int32(3))}, got); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}

	type row struct {
		Name, Product, Variant string
		Ready                  bool
		Reason                 v1.Reason
		Mode                   v1.WorkloadMode
		Count                  *int32
		MemoryMiB              *int64
	}
	var rows []row
	for _, n := range inv.Status.Nodes {
		r := row{Name: n.Name, Ready: n.Ready, Reason: n.Reason, Mode: n.WorkloadMode, Count: n.GpuCount}
		for _, g := range n.Gpus {
			r.Product, r.Variant, r.MemoryMiB = g.Product, g.Variant, g.MemoryMiB
		}
		rows = append(rows, r)
	}
	want := []row{
		{Name: "nuc1", Product: "NVIDIA-GeForce-RTX-4070-Laptop-GPU", Variant: "SHARED", Reason: v1.ReasonNodeStatusUnknown,
			Mode: v1.WorkloadModeVMPassthrough, Count: new(int32(1)), MemoryMiB: new(int64(8188))},
		{Name: "nuc2", Reason: v1.ReasonNodeStatusUnknown, Mode: v1.WorkloadModeVMPassthrough},
		{Name: "omen", Reason: v1.ReasonNodeStatusUnknown, Mode: v1.WorkloadModeVMPassthrough},
		{Name: "omen2", Reason: v1.ReasonNodeStatusUnknown, Mode: v1.WorkloadModeContainer},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

// object is what is printed, as any program reads it.
func object(t *testing.T, text []byte) (out map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestScanPrintsWhatTheOperatorWritesWithoutWhatBelongsToTheWrite(t *testing.T) {
	nodes := homelabNodes(t)
	var rows []v1.GpuNode
	for i := range nodes.Items {
		if r, ok := gpu.Read(gpu.FactsOf(&nodes.Items[i], gpu.Options{}, nil), nil, gpu.Options{}); ok {
			rows = append(rows, r.Row)
		}
	}
	rows = inventory.WithAllocated(rows, nil, inventory.HoldersRead{Pods: true})
	written, _ := inventory.Next(v1.GpuInventoryStatus{}, inventory.Snapshot(rows), 1, time.Unix(1_800_000_000, 0))
	body, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	status := object(t, body)
	delete(status, "observedAt")
	delete(status, "observedGeneration")
	for _, c := range status["conditions"].([]any) {
		delete(c.(map[string]any), "lastTransitionTime")
		delete(c.(map[string]any), "observedGeneration")
	}
	want := map[string]any{
		"apiVersion": "homelab.youngju.dev/v1", "kind": "GpuInventory", "metadata": map[string]any{"name": "cluster"}, "status": status,
	}
	for _, output := range []string{"json", "yaml"} {
		_, stdout, _ := run(t, "", "scan", "-f", homelab, "-o", output)
		if diff := cmp.Diff(want, object(t, []byte(stdout))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", output, diff)
		}
	}
}

func TestScanCountsExtraResources(t *testing.T) {
	const node = `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {
		"capacity": {"example.com/accelerator": "2"}, "allocatable": {"example.com/accelerator": "2"},
		"conditions": [{"type": "Ready", "status": "True"}]}}`
	if inv := scan(t, node, "-f", "-"); *inv.Status.TotalGpuNodes != 0 {
		t.Errorf("%d GPU nodes by a name that nobody knows, want none", *inv.Status.TotalGpuNodes)
	}
	inv := scan(t, node, "-f", "-", "--extra-gpu-resources", "example.com/accelerator")
	if *inv.Status.TotalGpuNodes != 1 || *inv.Status.ReadyGpuNodes != 1 {
		t.Errorf("%d GPU nodes, %d ready, want 1 and 1", *inv.Status.TotalGpuNodes, *inv.Status.ReadyGpuNodes)
	}
}

func TestScanReadsTheSameFromEveryFormAndOrder(t *testing.T) {
	text := homelabNodesText(t)
	items := object(t, text)["items"].([]any)
	var documents, objects, reversed []string
	for _, item := range items {
		asYAML, err := yaml.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		asJSON, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, string(asYAML))
		objects = append(objects, string(asJSON))
		reversed = append([]string{string(asJSON)}, reversed...)
	}
	want := scan(t, string(text), "-f", "-")
	for name, stdin := range map[string]string{
		"documents":    strings.Join(documents, "---\n"),
		"CRLF":         strings.ReplaceAll(string(text), "\n", "\r\n"),
		"JSON objects": strings.Join(objects, "\n"),
		"a JSON list":  `{"apiVersion":"v1","items":[` + strings.Join(reversed, ",") + `],"kind":"List"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, scan(t, stdin, "-f", "-")); diff != "" {
				t.Errorf("inventory (-want +got):\n%s", diff)
			}
		})
	}
}

// sliceOf is a ResourceSlice with the GPUs of node a.
const sliceOf = `
apiVersion: resource.k8s.io/%s
kind: ResourceSlice
metadata: {name: a-gpu}
spec:
  driver: gpu.nvidia.com
  nodeName: a
  pool: {name: a, generation: 1, resourceSliceCount: 1}
  devices:
%s`

func TestScanCountsTheDevicesInResourceSlices(t *testing.T) {
	device := func(indent, name string) string {
		lines := []string{"attributes:", "  type: {string: gpu}", "  uuid: {string: GPU-" + name + "}", "  productName: {string: NVIDIA H100 80GB HBM3}", "capacity:", "  memory: {value: 81559Mi}"}
		return strings.Join(lines, "\n"+indent)
	}
	flat := func(name string) string { return "  - name: " + name + "\n    " + device("    ", name) + "\n" }
	basic := func(name string) string {
		return "  - name: " + name + "\n    basic:\n      " + device("      ", name) + "\n"
	}
	for version, devices := range map[string]string{
		"v1":      flat("gpu-0") + flat("gpu-1"),
		"v1beta2": flat("gpu-0") + flat("gpu-1"),
		"v1beta1": basic("gpu-0") + basic("gpu-1"),
	} {
		ready := "status: {conditions: [{type: Ready, status: \"True\"}]}\n"
		slices := fmt.Sprintf(sliceOf, version, devices)
		for order, stdin := range map[string]string{"before": slices + "---\n" + nodeA + ready, "after": nodeA + ready + "---" + slices} {
			t.Run(version+" "+order+" the Node", func(t *testing.T) {
				nodes := scan(t, stdin, "-f", "-").Status.Nodes
				if len(nodes) != 1 {
					t.Fatalf("got %d GPU nodes, want 1", len(nodes))
				}
				want := []v1.GpuGroup{{
					Vendor: v1.VendorNVIDIA, Product: "NVIDIA H100 80GB HBM3",
					Count: new(int32(2)), MemoryMiB: new(int64(81559)), Source: v1.SourceSlices,
				}}
				if diff := cmp.Diff(want, nodes[0].Gpus); diff != "" {
					t.Errorf("gpus (-want +got):\n%s", diff)
				}
			})
		}
	}
}
