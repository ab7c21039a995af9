package metrics

import (
	"fmt"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

const noLimit = 1 << 20

// smallFleet has a ready node of which everything is known, one that is not ready, and one of which little is known.
func smallFleet() *v1.GpuInventoryStatus {
	const product = "NVIDIA-GeForce-RTX-4070-Laptop-GPU"
	return &v1.GpuInventoryStatus{
		TotalGpuNodes: new(int32(3)), ReadyGpuNodes: new(int32(1)), TotalGpus: new(int32(9)), ReadyGpus: new(int32(8)),
		FreeGpus: new(int32(3)), UnknownGpuNodes: new(int32(1)),
		Products: []v1.ProductSummary{
			{Vendor: v1.VendorAMD, Nodes: 1, ReadyGpus: new(int32(0))},
			{
				Vendor: v1.VendorNVIDIA, Product: product, Nodes: 2, ReadyNodes: 1, Gpus: new(int32(9)), ReadyGpus: new(int32(8)),
				FreeGpus: new(int32(3)), LargestFree: new(int32(3)),
			},
		},
		Resources: []v1.ResourceSummary{
			{Name: "nvidia.com/gpu", Capacity: 17, Allocatable: 16, Allocated: new(int64(10)), Free: new(int64(6))},
			{Name: "squat.ai/fuse", Capacity: 2, Allocatable: 2},
		},
		Nodes: []v1.GpuNode{{
			Name: "lost", Reason: v1.ReasonNodeStatusUnknown, GpuCount: new(int32(1)),
			Gpus:      []v1.GpuGroup{{Vendor: v1.VendorNVIDIA, Product: product, Count: new(int32(1)), Source: v1.SourceLastKnown}},
			Resources: []v1.NodeResource{{Name: "nvidia.com/gpu", Capacity: 1}},
		}, {
			Name: "vague", Reason: v1.ReasonDevicePluginNotRegistered, WorkloadMode: v1.WorkloadModeVMPassthrough,
			Warnings: []v1.Warning{v1.WarningCordoned, v1.WarningLabelsMissing},
		}, {
			Name: "fine", Ready: true, Reason: v1.ReasonOK, GpuCount: new(int32(8)),
			Gpus: []v1.GpuGroup{{
				Vendor: v1.VendorNVIDIA, Product: product, Variant: "SHARED", Count: new(int32(8)), MemoryMiB: new(int64(8188)),
			}},
			Sharing: v1.SharingTimeSlicing, WorkloadMode: v1.WorkloadModeContainer,
			Resources: []v1.NodeResource{{Name: "nvidia.com/gpu", Capacity: 16, Allocatable: 16, Allocated: new(int64(10))}},
		}},
		Conditions: []metav1.Condition{
			{Type: v1.ConditionHealthy, Status: metav1.ConditionFalse},
			{Type: v1.ConditionComplete, Status: metav1.ConditionUnknown},
		},
	}
}

// bigFleet has n GPU nodes, of which every tenth is not ready and cordoned.
func bigFleet(n int) *v1.GpuInventoryStatus {
	lost := (n + 9) / 10
	s := &v1.GpuInventoryStatus{
		TotalGpuNodes: new(int32(n)), ReadyGpuNodes: new(int32(n - lost)), TotalGpus: new(int32(8 * n)), UnknownGpuNodes: new(int32(0)),
		Products: []v1.ProductSummary{{
			Vendor: v1.VendorNVIDIA, Product: "NVIDIA-H100-80GB-HBM3", Nodes: int32(n), Gpus: new(int32(8 * n)),
			ReadyGpus: new(int32(8 * (n - lost))), FreeGpus: new(int32(8)), LargestFree: new(int32(8)),
		}},
		Resources: []v1.ResourceSummary{{
			Name: "nvidia.com/gpu", Capacity: int64(8 * n), Allocatable: int64(8 * n), Allocated: new(int64(0)), Free: new(int64(8)),
		}},
		Conditions: []metav1.Condition{
			{Type: v1.ConditionHealthy, Status: metav1.ConditionFalse},
			{Type: v1.ConditionComplete, Status: metav1.ConditionTrue},
		},
	}
	for i := range n {
		node := v1.GpuNode{
			Name: fmt.Sprintf("gpu-%05d.compute.internal", i), Ready: i >= lost, Reason: v1.ReasonOK, GpuCount: new(int32(8)),
			Gpus: []v1.GpuGroup{{
				Vendor: v1.VendorNVIDIA, Product: "NVIDIA-H100-80GB-HBM3", Count: new(int32(8)), MemoryMiB: new(int64(81559)),
			}},
			Sharing: v1.SharingNone, WorkloadMode: v1.WorkloadModeContainer,
			Resources: []v1.NodeResource{{Name: "nvidia.com/gpu", Capacity: 8, Allocatable: 8, Allocated: new(int64(i % 9))}},
		}
		if !node.Ready {
			node.Reason = v1.ReasonNodeStatusUnknown
			node.Warnings = []v1.Warning{v1.WarningCordoned, v1.WarningGpuMissing}
		}
		s.Nodes = append(s.Nodes, node)
	}
	return s
}

// somePools are the pools of an inventory: GPUs of one are missing, for one this is not known, and one declares no GPUs.
func somePools() []inventory.PoolState {
	return []inventory.PoolState{
		{Name: "h100", ExpectedGpus: new(int32(32)), MissingGpus: new(int32(8))},
		{Name: "vague", ExpectedGpus: new(int32(4))},
		{Name: "nodes-only"},
	}
}

// bareState is the state in which one inventory covers all Nodes.
func bareState(s *v1.GpuInventoryStatus) State {
	return State{Inventories: map[string]*v1.GpuInventoryStatus{"cluster": s}, Fleet: s}
}

// stateOf is a bareState with expected pools.
func stateOf(s *v1.GpuInventoryStatus) State {
	state := bareState(s)
	state.Pools = map[string][]inventory.PoolState{"cluster": somePools()}
	return state
}

func collectorOf(state State) *Collector {
	return NewCollector(func() (State, bool) { return state, true }, noLimit, logr.Discard())
}
