package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func table(inv *v1.GpuInventory, options tableOptions) string {
	var out bytes.Buffer
	writeTable(&out, inv, options)
	return out.String()
}

func of(rows ...v1.GpuNode) *v1.GpuInventory {
	return &v1.GpuInventory{Status: inventory.Snapshot(rows)}
}

// gpuNode is a healthy node with GPUs of one product.
func gpuNode(name, product string, count int32, change ...func(*v1.GpuNode)) v1.GpuNode {
	n := v1.GpuNode{
		Name: name, Ready: true, Reason: v1.ReasonOK, GpuCount: &count, Sharing: v1.SharingNone, WorkloadMode: v1.WorkloadModeContainer,
		Gpus:      []v1.GpuGroup{{Vendor: v1.VendorNVIDIA, Product: product, Count: &count, MemoryMiB: new(int64(81559)), Source: v1.SourceLabels}},
		Resources: []v1.NodeResource{{Name: "nvidia.com/gpu", Capacity: int64(count), Allocatable: int64(count)}},
	}
	for _, c := range change {
		c(&n)
	}
	return n
}

func notReady(reason v1.Reason, message string) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) { n.Ready, n.Reason, n.Message = false, reason, message }
}

func warned(warnings ...v1.Warning) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) { n.Warnings = warnings }
}

func mixedFleet() *v1.GpuInventory {
	inv := of(
		gpuNode("gpu-01", "NVIDIA-H100-80GB-HBM3", 8),
		gpuNode("gpu-02", "NVIDIA-H100-80GB-HBM3", 8, warned(v1.WarningCordoned, v1.WarningDiskPressure)),
		gpuNode("gpu-03", "NVIDIA-H100-80GB-HBM3", 8, notReady(v1.ReasonNodeNotReady,
			"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized, since 2026-07-10T15:02:11Z")),
		gpuNode("gpu-04", "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition", 1),
		gpuNode("gpu-05", "NVIDIA-A100-SXM4-40GB", 2, func(n *v1.GpuNode) {
			n.Sharing = v1.SharingMIG
			n.Gpus[0].Variant, n.Gpus[0].MemoryMiB, n.Gpus[0].MemoryPerUnitMiB = "MIG-1g.5gb", nil, new(int64(4864))
		}),
		gpuNode("gpu-06", "AMD_Instinct_MI300X_OAM", 8, func(n *v1.GpuNode) {
			n.GpuCount = new(int32(10))
			n.Gpus[0].Vendor = v1.VendorAMD
			n.Resources = []v1.NodeResource{{Name: "amd.com/gpu", Capacity: 8, Allocatable: 8}}
			n.Gpus = append(n.Gpus, v1.GpuGroup{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-L4", Count: new(int32(2)), Source: v1.SourceLastKnown})
			n.LastSeen = new(metav1.NewTime(time.Date(2026, 7, 10, 15, 2, 11, 0, time.UTC)))
		}),
		v1.GpuNode{Name: "gpu-07", Reason: v1.ReasonResourceSlicePoolIncomplete, Gpus: []v1.GpuGroup{{Vendor: v1.VendorUnknown}}},
	)
	inv.Status.ObservedAt = new(metav1.NewTime(time.Date(2026, 7, 12, 8, 0, 0, 0, time.UTC)))
	inv.Spec.Note = "a fleet with one of everything"
	return inv
}

func TestTableOfTheHomelab(t *testing.T) {
	_, stdout, _ := run(t, "", "scan", "-f", homelab)
	golden(t, "homelab", stdout)
}

func TestTable(t *testing.T) {
	omitted := of(gpuNode("a", "Tesla-T4", 1))
	omitted.Status.NodesOmitted = 12
	counted := of(gpuNode("a", "Tesla-T4", 4))
	counted.Status.FreeGpus, counted.Status.Products[0].FreeGpus, counted.Status.Products[0].LargestFree = new(int32(3)), new(int32(3)), new(int32(3))
	holding := func(held ...int64) func(*v1.GpuNode) {
		return func(n *v1.GpuNode) {
			for i := range held {
				n.Resources[i].Allocated = &held[i]
			}
		}
	}
	migs := func(n *v1.GpuNode) {
		n.Sharing, n.Gpus[0].Variant = v1.SharingMIG, "MIG-mixed"
		n.Resources = []v1.NodeResource{{Name: "nvidia.com/gpu", Capacity: 3, Allocatable: 3}, {Name: "nvidia.com/mig-1g.10gb", Capacity: 7, Allocatable: 7}}
	}
	inUse := of(
		gpuNode("gpu-01", "NVIDIA-H100-80GB-HBM3", 8, holding(3)), gpuNode("gpu-02", "NVIDIA-H100-80GB-HBM3", 8, holding(8)),
		gpuNode("gpu-03", "NVIDIA-H100-80GB-HBM3", 4, migs, holding(1, 2)), gpuNode("gpu-04", "NVIDIA-H100-80GB-HBM3", 8, holding(0), warned(v1.WarningCordoned),
			func(n *v1.GpuNode) { n.Unschedulable = true }),
		v1.GpuNode{Name: "gpu-05", Reason: v1.ReasonDevicePluginNotRegistered, Gpus: []v1.GpuGroup{{Vendor: v1.VendorNVIDIA}}},
	)
	cases := map[string]struct {
		inv     *v1.GpuInventory
		options tableOptions
	}{
		"mixed":             {mixedFleet(), tableOptions{width: 100}},
		"mixed-narrow":      {mixedFleet(), tableOptions{width: 60}},
		"mixed-wide":        {mixedFleet(), tableOptions{width: 160}},
		"mixed-colour":      {mixedFleet(), tableOptions{width: 100, colour: true}},
		"mixed-problems":    {mixedFleet(), tableOptions{width: 100, problemsOnly: true}},
		"healthy-problems":  {of(gpuNode("a", "Tesla-T4", 1)), tableOptions{width: 100, problemsOnly: true}},
		"free-known":        {counted, tableOptions{width: 100}},
		"in-use":            {inUse, tableOptions{width: 100}},
		"in-use-narrow":     {inUse, tableOptions{width: 50}},
		"no-gpus":           {of(), tableOptions{width: 100}},
		"nothing-known-yet": {&v1.GpuInventory{}, tableOptions{width: 100}},
		"unusable": {&v1.GpuInventory{Status: inventory.Unusable(v1.ConditionReasonInvalidSelector,
			"spec.nodeSelector cannot be used, nothing was counted")}, tableOptions{width: 100}},
		"rows-omitted": {omitted, tableOptions{width: 100}},
		"hostile": {of(gpuNode("evil\x1b[2J\x1b[1;1H", "\u202eproduct\r\nx", 1, notReady("Rea\x1bson", "a\nb\x07c"), warned("W\x1b[31m"))),
			tableOptions{width: 100}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { golden(t, name, table(tc.inv, tc.options)) })
	}
}

func TestTableKeepsToItsWidth(t *testing.T) {
	long := gpuNode("ip-10-0-123-123.eu-central-1.compute.internal", "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition", 8,
		notReady(v1.ReasonDevicePluginNotRegistered, strings.Repeat("a message of several words ", 20)),
		warned(v1.WarningCordoned, v1.WarningLabelsMissing, v1.WarningWorkloadModeMismatch, v1.WarningOverlappingResources, v1.WarningMemoryLabelImplausible))
	for _, inv := range []*v1.GpuInventory{of(long), mixedFleet()} {
		for line := range strings.Lines(table(inv, tableOptions{width: 100})) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
				t.Errorf("%d characters: %s", n, line)
			}
		}
	}
}

func TestColourOnlyRepeatsWhatTheTextSays(t *testing.T) {
	coloured := table(mixedFleet(), tableOptions{width: 100, colour: true})
	for _, code := range []string{"31", "32", "33", "1", "0"} {
		coloured = strings.ReplaceAll(coloured, "\x1b["+code+"m", "")
	}
	if diff := cmp.Diff(table(mixedFleet(), tableOptions{width: 100}), coloured); diff != "" {
		t.Errorf("text without and with colour (-without +with):\n%s", diff)
	}
}

func TestColourIsForTerminalsThatWantIt(t *testing.T) {
	cases := map[string]struct {
		env  map[string]string
		want bool
	}{
		"a terminal":          {map[string]string{"TERM": "xterm-256color"}, true},
		"NO_COLOR":            {map[string]string{"NO_COLOR": "1"}, false},
		"NO_COLOR of 0":       {map[string]string{"NO_COLOR": "0"}, false},
		"NO_COLOR, but empty": {map[string]string{"NO_COLOR": ""}, true},
		"a dumb terminal":     {map[string]string{"TERM": "dumb"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := colourWanted(func(k string) string { return tc.env[k] }); got != tc.want {
				t.Errorf("colourWanted() = %v, want %v", got, tc.want)
			}
		})
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for name, w := range map[string]interface{ Write([]byte) (int, error) }{"a file": f, "a buffer": &bytes.Buffer{}} {
		options := tableOptions{}
		options.fit(w)
		if diff := cmp.Diff(tableOptions{width: 100}, options, cmp.AllowUnexported(tableOptions{})); diff != "" {
			t.Errorf("options for %s (-want +got):\n%s", name, diff)
		}
	}
}
