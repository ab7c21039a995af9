package inventory

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

func TestWithAllocated(t *testing.T) {
	known := func(n int64) *int64 { return &n }
	all := HoldersRead{Pods: true, Claims: true}
	both := []v1.NodeResource{{Name: draGpus, Capacity: 8, Allocatable: 8}, {Name: gpus, Capacity: 8, Allocatable: 8}}
	cases := map[string]struct {
		resources []v1.NodeResource
		held      map[string]int64
		read      HoldersRead
		want      []v1.NodeResource
	}{
		"nothing is known until inputs are read": {both, map[string]int64{gpus: 1}, HoldersRead{}, both},
		"Pods tell about resources": {both, map[string]int64{gpus: 1}, HoldersRead{Pods: true},
			[]v1.NodeResource{both[0], {Name: gpus, Capacity: 8, Allocatable: 8, Allocated: known(1)}}},
		"claims tell about devices": {both, map[string]int64{draGpus: 2}, HoldersRead{Claims: true},
			[]v1.NodeResource{{Name: draGpus, Capacity: 8, Allocatable: 8, Allocated: known(2)}, both[1]}},
		"nothing held is 0": {both, nil, all,
			[]v1.NodeResource{{Name: draGpus, Capacity: 8, Allocatable: 8, Allocated: known(0)}, {Name: gpus, Capacity: 8, Allocatable: 8, Allocated: known(0)}}},
		"what was known is forgotten": {[]v1.NodeResource{{Name: gpus, Capacity: 8, Allocatable: 8, Allocated: known(4)}}, nil, HoldersRead{}, both[1:]},
		"more than there is":          {both[1:], map[string]int64{gpus: 11}, all, []v1.NodeResource{{Name: gpus, Capacity: 8, Allocatable: 8, Allocated: known(11)}}},
		"a resource that is no more is told": {both[1:], map[string]int64{"nvidia.com/gpu.shared": 2, "amd.com/gpu": 1}, all, []v1.NodeResource{
			{Name: "amd.com/gpu", Allocated: known(1)}, {Name: gpus, Capacity: 8, Allocatable: 8, Allocated: known(0)}, {Name: "nvidia.com/gpu.shared", Allocated: known(2)}}},
		"but not when Pods are not known":                   {both[1:], map[string]int64{"nvidia.com/gpu.shared": 2}, HoldersRead{Claims: true}, both[1:]},
		"nor what rows leave out though the node has it":    {nil, map[string]int64{"volcano.sh/vgpu-memory": 2, "nvidia.com/cx6": 1, draGpus: 2}, all, nil},
		"a node that holds nothing and has nothing is left": {nil, nil, all, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rows := []v1.GpuNode{{Name: "other"}, {Name: "a", Resources: tc.resources}}
			before := (&v1.GpuInventoryStatus{Nodes: rows}).DeepCopy().Nodes
			got := WithAllocated(rows, holders.Held{"a": tc.held, "gone": {gpus: 3}}, tc.read)
			if diff := cmp.Diff([]v1.GpuNode{{Name: "other"}, {Name: "a", Resources: tc.want}}, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, rows); diff != "" {
				t.Errorf("the given rows were written to (-before +after):\n%s", diff)
			}
		})
	}
}

func TestWithAllocatedAddsNoMoreResourcesThanTheAPIAccepts(t *testing.T) {
	n := v1.GpuNode{Name: "a"}
	for i := range v1.MaxResources {
		n.Resources = append(n.Resources, v1.NodeResource{Name: fmt.Sprintf("nvidia.com/%04X", i), Capacity: 1})
	}
	got := WithAllocated([]v1.GpuNode{n}, holders.Held{"a": {gpus: 1}}, HoldersRead{Pods: true})
	if len(got[0].Resources) != v1.MaxResources {
		t.Errorf("%d resources, want %d", len(got[0].Resources), v1.MaxResources)
	}
}

func TestWithAllocatedCopiesOnlyWhatChanges(t *testing.T) {
	rows := []v1.GpuNode{row("a", 8, holding(gpus, 3)), row("b", 8, holding(gpus, 0))}
	held := holders.Held{"a": {gpus: 3}}
	if got := WithAllocated(rows, held, HoldersRead{Pods: true}); &got[0] != &rows[0] {
		t.Error("rows that say it already were copied")
	}
	held["b"] = map[string]int64{gpus: 1}
	got := WithAllocated(rows, held, HoldersRead{Pods: true})
	if &got[0].Resources[0] != &rows[0].Resources[0] || &got[1].Resources[0] == &rows[1].Resources[0] {
		t.Error("want the resources of b copied, and those of a shared")
	}
	if got := WithAllocated(nil, held, HoldersRead{Pods: true}); got != nil {
		t.Errorf("no rows became %v", got)
	}
}

func BenchmarkWithAllocated(b *testing.B) {
	var rows []v1.GpuNode
	held := holders.Held{}
	for i := range 5000 {
		name := fmt.Sprintf("node-%04d", i)
		rows = append(rows, row(name, 8))
		held[name] = map[string]int64{gpus: 4}
	}
	b.ReportAllocs()
	for b.Loop() {
		WithAllocated(rows, held, HoldersRead{Pods: true})
	}
}
