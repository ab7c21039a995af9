package configmap

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// homelab is four GPU nodes of which none is ready, and one GPU is known.
func homelab() *v1.GpuInventoryStatus {
	lost := func(name string, mode v1.WorkloadMode) v1.GpuNode {
		return v1.GpuNode{
			Name: name, Reason: v1.ReasonNodeStatusUnknown, WorkloadMode: mode,
			Message:  "kubelet stopped posting node status since 2026-07-10T15:02:11Z",
			Warnings: []v1.Warning{v1.WarningLabelsMissing},
		}
	}
	nuc1 := lost("nuc1", v1.WorkloadModeVMPassthrough)
	nuc1.GpuCount = new(int32(1))
	nuc1.Gpus = []v1.GpuGroup{{
		Vendor: v1.VendorNVIDIA, Product: "NVIDIA-GeForce-RTX-4070-Laptop-GPU", Variant: "SHARED",
		Count: new(int32(1)), MemoryMiB: new(int64(8188)), Source: v1.SourceLabels,
	}}
	nuc1.Sharing = v1.SharingTimeSlicing
	nuc1.Resources = []v1.NodeResource{{Name: "nvidia.com/gpu", Capacity: 1, Allocatable: 1, Allocated: new(int64(0))}}
	nuc1.Warnings = []v1.Warning{v1.WarningWorkloadModeMismatch}
	return &v1.GpuInventoryStatus{
		TotalGpuNodes: new(int32(4)), ReadyGpuNodes: new(int32(0)), TotalGpus: new(int32(1)), ReadyGpus: new(int32(0)),
		FreeGpus: new(int32(0)), UnknownGpuNodes: new(int32(3)),
		Products: []v1.ProductSummary{{
			Vendor: v1.VendorNVIDIA, Product: "NVIDIA-GeForce-RTX-4070-Laptop-GPU", Nodes: 1,
			Gpus: new(int32(1)), ReadyGpus: new(int32(0)), FreeGpus: new(int32(0)), LargestFree: new(int32(0)),
		}, {
			Vendor: v1.VendorNVIDIA, Nodes: 3, ReadyGpus: new(int32(0)),
		}},
		Resources: []v1.ResourceSummary{{
			Name: "nvidia.com/gpu", Capacity: 1, Allocatable: 1, Allocated: new(int64(0)), Free: new(int64(0)),
		}},
		Nodes: []v1.GpuNode{
			nuc1,
			lost("nuc2", v1.WorkloadModeVMPassthrough),
			lost("omen", v1.WorkloadModeVMPassthrough),
			lost("omen2", v1.WorkloadModeContainer),
		},
		Conditions: []metav1.Condition{{
			Type: v1.ConditionHealthy, Status: metav1.ConditionFalse, Reason: v1.ConditionReasonNodesNotReady,
			Message: "4 of 4 GPU nodes are not ready: nuc1, nuc2, omen, omen2 (NodeStatusUnknown)",
		}, {
			Type: v1.ConditionComplete, Status: metav1.ConditionFalse, Reason: v1.ConditionReasonFactsUnknown,
			Message: "The product or count of 3 nodes is not known: nuc2, omen, omen2",
		}},
	}
}

// mixedFleet has every shape of row: several products on a node, slices, last-known facts, a plain healthy node.
func mixedFleet() *v1.GpuInventoryStatus {
	return &v1.GpuInventoryStatus{
		TotalGpuNodes: new(int32(5)), ReadyGpuNodes: new(int32(3)), TotalGpus: new(int32(22)), ReadyGpus: new(int32(14)),
		UnknownGpuNodes: new(int32(2)),
		Products: []v1.ProductSummary{
			{Vendor: v1.VendorAMD, Product: "AMD_Instinct_MI300X_OAM", Nodes: 1, Gpus: new(int32(8)), ReadyGpus: new(int32(0))},
			{Vendor: v1.VendorNVIDIA, Product: "NVIDIA A100-SXM4-40GB", Nodes: 2, ReadyNodes: 2, Gpus: new(int32(4)), ReadyGpus: new(int32(4))},
			{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-H100-80GB-HBM3", Nodes: 1, ReadyNodes: 1, Gpus: new(int32(8)), ReadyGpus: new(int32(8))},
			{Vendor: v1.VendorNVIDIA, Product: "Tesla-T4", Nodes: 1, ReadyNodes: 1, Gpus: new(int32(2)), ReadyGpus: new(int32(2))},
			{Vendor: v1.VendorUnknown, Nodes: 1, ReadyGpus: new(int32(0))},
		},
		Nodes: []v1.GpuNode{{
			Name: "mi300x-1", Reason: v1.ReasonNodeNotReady, Message: "container runtime network not ready", GpuCount: new(int32(8)),
			Gpus: []v1.GpuGroup{{
				Vendor: v1.VendorAMD, Product: "AMD_Instinct_MI300X_OAM", Variant: "SPX_NPS1", Count: new(int32(8)),
				MemoryMiB: new(int64(196592)), Source: v1.SourceLastKnown,
			}},
			Unschedulable: true, Warnings: []v1.Warning{v1.WarningCordoned, v1.WarningGpuMissing},
			LastSeen: new(metav1.NewTime(time.Date(2026, 7, 10, 17, 2, 11, 0, time.FixedZone("", 2*60*60)))),
		}, {
			Name: "unknown-1", Reason: v1.ReasonDevicePluginNotRegistered,
			Gpus: []v1.GpuGroup{{Vendor: v1.VendorUnknown, Variant: "SHARED"}},
		}, {
			Name: "h100-1", Ready: true, Reason: v1.ReasonOK, GpuCount: new(int32(8)), Sharing: v1.SharingNone,
			Gpus: []v1.GpuGroup{{
				Vendor: v1.VendorNVIDIA, Product: "NVIDIA-H100-80GB-HBM3", Count: new(int32(8)), MemoryMiB: new(int64(81559)),
			}},
			WorkloadMode: v1.WorkloadModeContainer,
		}, {
			Name: "mig-1", Ready: true, Reason: v1.ReasonOK,
			Gpus: []v1.GpuGroup{{
				Vendor: v1.VendorNVIDIA, Product: "NVIDIA A100-SXM4-40GB", Variant: "MIG-1g.5gb", MemoryPerUnitMiB: new(int64(4864)),
			}},
			WorkloadMode: v1.WorkloadModeContainer,
		}, {
			Name: "two-kinds", Ready: true, Reason: v1.ReasonOK, GpuCount: new(int32(6)),
			Gpus: []v1.GpuGroup{
				{Vendor: v1.VendorNVIDIA, Product: "NVIDIA A100-SXM4-40GB", Count: new(int32(4)), MemoryMiB: new(int64(40960))},
				{Vendor: v1.VendorNVIDIA, Product: "Tesla-T4", Count: new(int32(2))},
			},
			WorkloadMode: v1.WorkloadModeContainer, Warnings: []v1.Warning{v1.WarningMixedProducts},
		}},
	}
}

// hostile has values that try to break lines, columns, JSON and terminals.
func hostile() *v1.GpuInventoryStatus {
	return &v1.GpuInventoryStatus{
		TotalGpuNodes: new(int32(2)), ReadyGpuNodes: new(int32(1)), UnknownGpuNodes: new(int32(2)),
		Products: []v1.ProductSummary{{Vendor: "nv\nidia", Product: "A\nB gpu_nodes=0", Nodes: 1}},
		Nodes: []v1.GpuNode{{
			Name: "evil\nforged ready=true", Reason: "No\tReason", Message: "line 1\nline 2\x1b[31m\"}],\"nodes\":[",
			Gpus: []v1.GpuGroup{{
				Vendor: "\x00", Product: "\x1b[2J\u202egpj.exe\r\n", Variant: "a\u2028b\u00a0c", Count: new(int32(1)),
			}},
			Warnings: []v1.Warning{"new\nline", ""},
		}, {
			Name: "bad-\xff\xfe-utf8", Ready: true, Reason: v1.ReasonOK, WorkloadMode: "con tainer",
			Gpus: []v1.GpuGroup{{Vendor: v1.VendorNVIDIA, Product: "{{ .Values }} <b>&\"'`$(reboot)"}},
		}},
	}
}
