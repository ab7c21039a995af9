package metrics

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

func TestInventorySeriesSayWhatTheStatusSays(t *testing.T) {
	const want = `
# HELP gpu_inventory_condition Whether a condition of the inventory has this status.
# TYPE gpu_inventory_condition gauge
gpu_inventory_condition{condition="Complete",inventory="cluster",status="False"} 0
gpu_inventory_condition{condition="Complete",inventory="cluster",status="True"} 0
gpu_inventory_condition{condition="Complete",inventory="cluster",status="Unknown"} 1
gpu_inventory_condition{condition="Healthy",inventory="cluster",status="False"} 1
gpu_inventory_condition{condition="Healthy",inventory="cluster",status="True"} 0
gpu_inventory_condition{condition="Healthy",inventory="cluster",status="Unknown"} 0
# HELP gpu_inventory_expected_gpus Physical GPUs that spec.expected declares for a pool.
# TYPE gpu_inventory_expected_gpus gauge
gpu_inventory_expected_gpus{inventory="cluster",pool="h100"} 32
gpu_inventory_expected_gpus{inventory="cluster",pool="vague"} 4
# HELP gpu_inventory_free_gpus Whole GPUs that nobody holds, on ready schedulable nodes.
# TYPE gpu_inventory_free_gpus gauge
gpu_inventory_free_gpus{inventory="cluster",product="NVIDIA-GeForce-RTX-4070-Laptop-GPU",vendor="nvidia"} 3
# HELP gpu_inventory_gpus Physical GPUs known.
# TYPE gpu_inventory_gpus gauge
gpu_inventory_gpus{inventory="cluster",product="NVIDIA-GeForce-RTX-4070-Laptop-GPU",vendor="nvidia"} 9
# HELP gpu_inventory_largest_free_gpus Most free GPUs on one node: the biggest single-node job that fits.
# TYPE gpu_inventory_largest_free_gpus gauge
gpu_inventory_largest_free_gpus{inventory="cluster",product="NVIDIA-GeForce-RTX-4070-Laptop-GPU",vendor="nvidia"} 3
# HELP gpu_inventory_missing_gpus Physical GPUs of a pool that are missing for certain.
# TYPE gpu_inventory_missing_gpus gauge
gpu_inventory_missing_gpus{inventory="cluster",pool="h100"} 8
# HELP gpu_inventory_nodes GPU nodes seen.
# TYPE gpu_inventory_nodes gauge
gpu_inventory_nodes{inventory="cluster"} 3
# HELP gpu_inventory_not_ready_cordoned_nodes GPU nodes that are not ready and cordoned, by reason.
# TYPE gpu_inventory_not_ready_cordoned_nodes gauge
gpu_inventory_not_ready_cordoned_nodes{inventory="cluster",reason="DevicePluginNotRegistered"} 1
gpu_inventory_not_ready_cordoned_nodes{inventory="cluster",reason="NodeStatusUnknown"} 0
# HELP gpu_inventory_not_ready_nodes GPU nodes that are not ready, by reason.
# TYPE gpu_inventory_not_ready_nodes gauge
gpu_inventory_not_ready_nodes{inventory="cluster",reason="DevicePluginNotRegistered"} 1
gpu_inventory_not_ready_nodes{inventory="cluster",reason="NodeStatusUnknown"} 1
# HELP gpu_inventory_ready_gpus Physical GPUs that are healthy and on ready nodes.
# TYPE gpu_inventory_ready_gpus gauge
gpu_inventory_ready_gpus{inventory="cluster",product="NVIDIA-GeForce-RTX-4070-Laptop-GPU",vendor="nvidia"} 8
gpu_inventory_ready_gpus{inventory="cluster",product="unknown",vendor="amd"} 0
# HELP gpu_inventory_ready_nodes GPU nodes usable for GPU work now.
# TYPE gpu_inventory_ready_nodes gauge
gpu_inventory_ready_nodes{inventory="cluster"} 1
# HELP gpu_inventory_resource_allocatable Units of a resource that the kubelets offer.
# TYPE gpu_inventory_resource_allocatable gauge
gpu_inventory_resource_allocatable{inventory="cluster",resource="nvidia.com/gpu"} 16
gpu_inventory_resource_allocatable{inventory="cluster",resource="squat.ai/fuse"} 2
# HELP gpu_inventory_resource_allocated Units of a resource that pods hold.
# TYPE gpu_inventory_resource_allocated gauge
gpu_inventory_resource_allocated{inventory="cluster",resource="nvidia.com/gpu"} 10
# HELP gpu_inventory_resource_capacity Units of a resource that the GPU nodes have.
# TYPE gpu_inventory_resource_capacity gauge
gpu_inventory_resource_capacity{inventory="cluster",resource="nvidia.com/gpu"} 17
gpu_inventory_resource_capacity{inventory="cluster",resource="squat.ai/fuse"} 2
# HELP gpu_inventory_resource_free Units of a resource that nobody holds, on ready schedulable nodes.
# TYPE gpu_inventory_resource_free gauge
gpu_inventory_resource_free{inventory="cluster",resource="nvidia.com/gpu"} 6
# HELP gpu_inventory_unknown_nodes GPU nodes whose number of physical GPUs is not known.
# TYPE gpu_inventory_unknown_nodes gauge
gpu_inventory_unknown_nodes{inventory="cluster"} 1
# HELP gpu_inventory_warnings Warnings on GPU nodes, one per node that has it.
# TYPE gpu_inventory_warnings gauge
gpu_inventory_warnings{inventory="cluster",warning="Cordoned"} 1
gpu_inventory_warnings{inventory="cluster",warning="LabelsMissing"} 1
`
	state := stateOf(smallFleet())
	state.Fleet = nil
	if err := testutil.CollectAndCompare(textOf{collectorOf(state)}, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

func TestNodeSeriesSayWhatIsKnownOfEachNode(t *testing.T) {
	const want = `
# HELP gpu_inventory_node_gpu_memory_bytes Memory of one physical GPU.
# TYPE gpu_inventory_node_gpu_memory_bytes gauge
gpu_inventory_node_gpu_memory_bytes{node="fine",product="NVIDIA-GeForce-RTX-4070-Laptop-GPU"} 8.585740288e+09
# HELP gpu_inventory_node_gpus Physical GPUs of a node.
# TYPE gpu_inventory_node_gpus gauge
gpu_inventory_node_gpus{node="fine",product="NVIDIA-GeForce-RTX-4070-Laptop-GPU",vendor="nvidia"} 8
gpu_inventory_node_gpus{node="lost",product="NVIDIA-GeForce-RTX-4070-Laptop-GPU",vendor="nvidia"} 1
# HELP gpu_inventory_node_info What a node's GPUs are, one sample per product, always 1.
# TYPE gpu_inventory_node_info gauge
gpu_inventory_node_info{node="fine",product="NVIDIA-GeForce-RTX-4070-Laptop-GPU",sharing="time-slicing",variant="SHARED",vendor="nvidia",workload_mode="container"} 1
gpu_inventory_node_info{node="lost",product="NVIDIA-GeForce-RTX-4070-Laptop-GPU",sharing="unknown",variant="",vendor="nvidia",workload_mode="unknown"} 1
gpu_inventory_node_info{node="vague",product="unknown",sharing="unknown",variant="",vendor="unknown",workload_mode="vm-passthrough"} 1
# HELP gpu_inventory_node_not_ready_reason Why the node is not ready, always 1.
# TYPE gpu_inventory_node_not_ready_reason gauge
gpu_inventory_node_not_ready_reason{node="lost",reason="NodeStatusUnknown"} 1
gpu_inventory_node_not_ready_reason{node="vague",reason="DevicePluginNotRegistered"} 1
# HELP gpu_inventory_node_ready Whether the node is usable for GPU work now.
# TYPE gpu_inventory_node_ready gauge
gpu_inventory_node_ready{node="fine"} 1
gpu_inventory_node_ready{node="lost"} 0
gpu_inventory_node_ready{node="vague"} 0
# HELP gpu_inventory_node_resource_allocatable Units of a resource that the node's kubelet offers.
# TYPE gpu_inventory_node_resource_allocatable gauge
gpu_inventory_node_resource_allocatable{node="fine",resource="nvidia.com/gpu"} 16
gpu_inventory_node_resource_allocatable{node="lost",resource="nvidia.com/gpu"} 0
# HELP gpu_inventory_node_resource_allocated Units of a resource that pods on the node hold.
# TYPE gpu_inventory_node_resource_allocated gauge
gpu_inventory_node_resource_allocated{node="fine",resource="nvidia.com/gpu"} 10
# HELP gpu_inventory_node_resource_capacity Units of a resource that the node has.
# TYPE gpu_inventory_node_resource_capacity gauge
gpu_inventory_node_resource_capacity{node="fine",resource="nvidia.com/gpu"} 16
gpu_inventory_node_resource_capacity{node="lost",resource="nvidia.com/gpu"} 1
# HELP gpu_inventory_node_warning A warning that the node has, always 1.
# TYPE gpu_inventory_node_warning gauge
gpu_inventory_node_warning{node="vague",warning="Cordoned"} 1
gpu_inventory_node_warning{node="vague",warning="LabelsMissing"} 1
`
	if err := testutil.CollectAndCompare(textOf{collectorOf(State{Fleet: smallFleet()})}, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

func TestNodeGpusAreAttributedAsFarAsTheyAreKnown(t *testing.T) {
	cases := map[string]struct {
		node v1.GpuNode
		want map[string]float64
	}{
		"several products, each counted": {
			node: v1.GpuNode{GpuCount: new(int32(6)), Gpus: []v1.GpuGroup{
				{Vendor: v1.VendorNVIDIA, Product: "A", Count: new(int32(4))}, {Vendor: v1.VendorNVIDIA, Product: "B", Count: new(int32(2))},
			}},
			want: map[string]float64{
				`gpu_inventory_node_gpus{node="n",product="A",vendor="nvidia"}`: 4,
				`gpu_inventory_node_gpus{node="n",product="B",vendor="nvidia"}`: 2,
			},
		},
		"several products, only their sum is known": {
			node: v1.GpuNode{GpuCount: new(int32(6)), Gpus: []v1.GpuGroup{
				{Vendor: v1.VendorNVIDIA, Product: "A"}, {Vendor: v1.VendorNVIDIA, Product: "B"},
			}},
			want: map[string]float64{`gpu_inventory_node_gpus{node="n",product="unknown",vendor="unknown"}`: 6},
		},
		"no product, but a count": {
			node: v1.GpuNode{GpuCount: new(int32(0))},
			want: map[string]float64{`gpu_inventory_node_gpus{node="n",product="unknown",vendor="unknown"}`: 0},
		},
		"nothing is known": {
			want: map[string]float64{},
		},
		"two rows without a product add up": {
			node: v1.GpuNode{Gpus: []v1.GpuGroup{
				{Vendor: v1.VendorNVIDIA, Count: new(int32(1)), MemoryMiB: new(int64(10))},
				{Vendor: v1.VendorNVIDIA, Count: new(int32(2)), MemoryMiB: new(int64(10))},
			}},
			want: map[string]float64{
				`gpu_inventory_node_gpus{node="n",product="unknown",vendor="nvidia"}`: 3,
				`gpu_inventory_node_gpu_memory_bytes{node="n",product="unknown"}`:     10 << 20,
			},
		},
		"memories that disagree under one label are not known": {
			node: v1.GpuNode{Gpus: []v1.GpuGroup{
				{Vendor: v1.VendorAMD, MemoryMiB: new(int64(10))}, {Vendor: v1.VendorNVIDIA, MemoryMiB: new(int64(20))},
			}},
			want: map[string]float64{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.node.Name = "n"
			got := series(gather(t, collectorOf(State{Fleet: &v1.GpuInventoryStatus{Nodes: []v1.GpuNode{tc.node}}}))...)
			maps.DeleteFunc(got, func(k string, _ float64) bool { return !strings.HasPrefix(k, "gpu_inventory_node_gpu") })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("node series (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsUnknownHasNoSeries(t *testing.T) {
	cases := map[string]struct {
		state State
		leads bool
	}{
		"this replica does not lead":            {state: stateOf(smallFleet())},
		"nothing is known yet":                  {leads: true},
		"an inventory has no status yet":        {state: State{Inventories: map[string]*v1.GpuInventoryStatus{"cluster": nil}}, leads: true},
		"an inventory's status says nothing":    {state: bareState(&v1.GpuInventoryStatus{}), leads: true},
		"a resource list and a product are nil": {state: bareState(&v1.GpuInventoryStatus{Products: []v1.ProductSummary{{}}}), leads: true},
		"pools declare no GPUs":                 {state: State{Inventories: map[string]*v1.GpuInventoryStatus{"cluster": {}}, Pools: map[string][]inventory.PoolState{"cluster": {{Name: "p"}}}}, leads: true},
		"pools of an inventory without status":  {state: State{Pools: map[string][]inventory.PoolState{"cluster": somePools()}}, leads: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := NewCollector(func() (State, bool) { return tc.state, tc.leads }, noLimit, logr.Discard())
			if diff := cmp.Diff(map[string]float64{}, series(gather(t, c)...)); diff != "" {
				t.Errorf("series (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInventoriesAreToldApart(t *testing.T) {
	small, big := smallFleet(), bigFleet(10)
	got := series(gather(t, collectorOf(State{Inventories: map[string]*v1.GpuInventoryStatus{"a": small, "b": big}}))...)
	for name, want := range map[string]float64{`gpu_inventory_nodes{inventory="a"}`: 3, `gpu_inventory_nodes{inventory="b"}`: 10} {
		if got[name] != want {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
	}
}

func TestReasonsAreAbsentWhenTheyCannotBeCounted(t *testing.T) {
	cases := map[string]struct {
		change func(*v1.GpuInventoryStatus)
		want   bool
	}{
		"all rows are there":                             {change: func(*v1.GpuInventoryStatus) {}, want: true},
		"only rows of ready nodes were left out":         {change: func(s *v1.GpuInventoryStatus) { s.Nodes = s.Nodes[:2]; s.NodesOmitted = 1 }, want: true},
		"a row of a node that is not ready was left out": {change: func(s *v1.GpuInventoryStatus) { s.Nodes = s.Nodes[:1]; s.NodesOmitted = 2 }},
		"the totals are not known":                       {change: func(s *v1.GpuInventoryStatus) { s.ReadyGpuNodes = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := smallFleet()
			tc.change(s)
			got := testutil.CollectAndCount(textOf{collectorOf(State{Inventories: map[string]*v1.GpuInventoryStatus{"cluster": s}})}, nameNotReadyNodes)
			if (got > 0) != tc.want {
				t.Errorf("%d series by reason, want some: %v", got, tc.want)
			}
		})
	}
}

func TestCordonedNodesArePartOfThoseThatAreNotReady(t *testing.T) {
	s := bigFleet(40) // four are not ready and cordoned
	s.Nodes[0].Warnings = nil
	s.Nodes[1].Reason = v1.ReasonNodeNotReady
	s.Nodes[39].Warnings = []v1.Warning{v1.WarningCordoned} // ready: not counted
	got := series(gather(t, collectorOf(State{Inventories: map[string]*v1.GpuInventoryStatus{"a": s}}))...)
	maps.DeleteFunc(got, func(k string, _ float64) bool { return !strings.Contains(k, "not_ready") })
	want := map[string]float64{
		`gpu_inventory_not_ready_nodes{inventory="a",reason="NodeNotReady"}`:               1,
		`gpu_inventory_not_ready_nodes{inventory="a",reason="NodeStatusUnknown"}`:          3,
		`gpu_inventory_not_ready_cordoned_nodes{inventory="a",reason="NodeNotReady"}`:      1,
		`gpu_inventory_not_ready_cordoned_nodes{inventory="a",reason="NodeStatusUnknown"}`: 2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func TestWarningsAreAbsentWhenTheyCannotBeCounted(t *testing.T) {
	s := smallFleet()
	s.Nodes, s.NodesOmitted = s.Nodes[:2], 1 // the row that was left out is of a ready node, and may have had a warning
	got := testutil.CollectAndCount(textOf{collectorOf(State{Inventories: map[string]*v1.GpuInventoryStatus{"cluster": s}})}, nameWarnings)
	if got != 0 {
		t.Errorf("%d series of warnings, want none", got)
	}
}

func TestMetricsPassTheLinterOfPrometheus(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	if _, err := NewRecorder(reg, BuildInfo{}, func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	if err := reg.Register(textOf{collectorOf(stateOf(smallFleet()))}); err != nil {
		t.Fatal(err)
	}
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestGaugesNameTheirLabelsInOrder(t *testing.T) {
	for _, g := range inventoryGauges {
		if !slices.IsSorted(g.Labels) || len(g.Labels) > maxLabels {
			t.Errorf("%s has the labels %v, want them sorted and at most %d", g.Name, g.Labels, maxLabels)
		}
	}
}
