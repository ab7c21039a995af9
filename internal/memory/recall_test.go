package memory

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// TestRecall reads one Node minute by minute.
func TestRecall(t *testing.T) {
	mig := []func(*v1.GpuNode){
		sharing(v1.SharingMIG, "MIG-1g.10gb"), uncounted, units("nvidia.com/gpu", 56, 56),
		func(n *v1.GpuNode) { n.Gpus[0].MemoryMiB, n.Gpus[0].MemoryPerUnitMiB = nil, new(int64(9728)) },
	}
	shared := []func(*v1.GpuNode){sharing(v1.SharingTimeSlicing, "SHARED"), units("nvidia.com/gpu", 32, 32)}
	draMIG := []func(*v1.GpuNode){sharing(v1.SharingMIG, "MIG-1g.10gb"), noUnits, units("dra:gpu.nvidia.com", 56, 56)}
	mixed := func(count int32) *v1.GpuNode {
		return wiped(count, warned(v1.WarningCountMismatch, v1.WarningMixedProducts))
	}
	twoResources := wiped(4, units("nvidia.com/gpu", 2, 2), units("nvidia.com/pgpu", 2, 2))
	vgpus := labelled(2, product("A10"), sharing(v1.SharingVGPU, "vGPU-12Q"), uncounted, source(v1.SourceResources), noUnits,
		units("nvidia.com/NVIDIA_A10-12Q", 4, 4), func(n *v1.GpuNode) { n.Gpus[0].MemoryMiB = nil })
	missing := []func(*v1.GpuNode){warned(v1.WarningGpuMissing), message(found7of8)}
	cases := map[string][]struct {
		says *v1.GpuNode // nil: says is bare
		bare *v1.GpuNode
		want *v1.GpuNode // nil: no GPU node
	}{
		"what is read is given back as it is": {
			{says: labelled(8), want: labelled(8)},
			{says: labelled(8, notReady(v1.ReasonNodeNotReady)), want: labelled(8, notReady(v1.ReasonNodeNotReady))},
		},
		"a Node that never had GPUs is none": {
			{bare: bare(true, v1.ReasonOK, "")},
		},
		"labels go and return": {
			{says: labelled(8), want: labelled(8)},
			{says: wiped(8), want: labelled(8, recalledAt(1), warned(v1.WarningLabelsMissing))},
			{says: wiped(8), want: labelled(8, recalledAt(1), warned(v1.WarningLabelsMissing))},
			{says: labelled(8), want: labelled(8)},
			{says: wiped(8), want: labelled(8, recalledAt(4), warned(v1.WarningLabelsMissing))},
		},
		"labels and units go": {
			{says: labelled(8), want: labelled(8)},
			{
				says: wiped(8, unlabelled, notReady(v1.ReasonDevicePluginNotRegistered)),
				want: labelled(8, noUnits, notReady(v1.ReasonDevicePluginNotRegistered), recalledAt(1), warned(v1.WarningLabelsMissing)),
			},
		},
		"everything goes": {
			{says: labelled(8), want: labelled(8)},
			{bare: bare(true, v1.ReasonOK, ""), want: labelled(8, noUnits, notReady(v1.ReasonDevicePluginNotRegistered),
				message(lostH100x8), recalledAt(1), warned(v1.WarningLabelsMissing))},
			{bare: bare(false, v1.ReasonDevicePluginNotRegistered, "x"), want: labelled(8, noUnits, notReady(v1.ReasonDevicePluginNotRegistered),
				message(lostH100x8), recalledAt(1), warned(v1.WarningLabelsMissing))},
		},
		"everything goes, and the Node's own reason comes first": {
			{says: labelled(8), want: labelled(8)},
			{bare: bare(false, v1.ReasonNodeStatusUnknown, "kubelet silent"), want: labelled(8, noUnits, notReady(v1.ReasonNodeStatusUnknown),
				message("kubelet silent"), recalledAt(1), warned(v1.WarningLabelsMissing))},
		},
		"a memory label goes": {
			{says: labelled(8), want: labelled(8)},
			{says: with(labelled(8), func(n *v1.GpuNode) { n.Gpus[0].MemoryMiB = nil }), want: labelled(8, recalledAt(1))},
		},
		"a GPU goes for good: the live count holds, and what there was is told": {
			{says: labelled(8), want: labelled(8)},
			{says: labelled(7), want: labelled(7, missing...)},
			{says: labelled(7), want: labelled(7, missing...)},
			{says: wiped(7), want: labelled(7, message(found7of8), recalledAt(3), warned(v1.WarningGpuMissing, v1.WarningLabelsMissing))},
			{says: labelled(7), want: labelled(7, missing...)},
			{says: labelled(8), want: labelled(8)},
		},
		"a GPU goes while labels are gone": {
			{says: labelled(8), want: labelled(8)},
			{says: wiped(7), want: labelled(7, message(found7of8), recalledAt(1), warned(v1.WarningGpuMissing, v1.WarningLabelsMissing))},
		},
		"other cards are no loss": {
			{says: labelled(8), want: labelled(8)},
			{says: labelled(4, groups(v1.GpuGroup{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-B200", Count: new(int32(4)), Source: v1.SourceLabels})),
				want: labelled(4, groups(v1.GpuGroup{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-B200", Count: new(int32(4)), Source: v1.SourceLabels}))},
		},
		"MIG hides the number of GPUs": {
			{says: labelled(8), want: labelled(8)},
			{says: labelled(8, mig...), want: labelled(8, sharing(v1.SharingMIG, "MIG-1g.10gb"), units("nvidia.com/gpu", 56, 56),
				func(n *v1.GpuNode) { n.Gpus[0].MemoryPerUnitMiB = new(int64(9728)) }, recalledAt(1))},
			{says: labelled(8), want: labelled(8)},
		},
		"units of MIG instances are taken for GPUs until labels follow": {
			{says: labelled(8), want: labelled(8)},
			{says: mixed(56), want: mixed(56)},
			{says: labelled(8, mig...), want: labelled(8, sharing(v1.SharingMIG, "MIG-1g.10gb"), units("nvidia.com/gpu", 56, 56),
				func(n *v1.GpuNode) { n.Gpus[0].MemoryPerUnitMiB = new(int64(9728)) }, recalledAt(2))},
		},
		"units counted as GPUs that turn out to be instances were miscounted, not lost": {
			{says: wiped(56), want: wiped(56)},
			{says: labelled(8, mig...), want: labelled(8, mig...)},
		},
		"replicas are switched on and off": {
			{says: labelled(8), want: labelled(8)},
			{says: mixed(32), want: mixed(32)},
			{says: labelled(8, shared...), want: labelled(8, shared...)},
			{says: labelled(8), want: labelled(8)},
		},
		"replicas are not GPUs while labels are gone": {
			{says: labelled(8, shared...), want: labelled(8, shared...)},
			{says: wiped(32), want: labelled(8, append(shared, recalledAt(1), warned(v1.WarningLabelsMissing))...)},
		},
		"labels reveal that units were replicas": {
			{says: wiped(32), want: wiped(32)},
			{says: labelled(8, shared...), want: labelled(8, shared...)},
		},
		"labels that name one product of several change nothing": {
			{says: mixed(3), want: mixed(3)},
			{
				says: labelled(1, noUnits, notReady(v1.ReasonNoAllocatableGpu)),
				want: wiped(3, noUnits, notReady(v1.ReasonNoAllocatableGpu), recalledAt(1), warned(v1.WarningMixedProducts)),
			},
			{
				says: labelled(2, noUnits, notReady(v1.ReasonNoAllocatableGpu)),
				want: wiped(3, noUnits, notReady(v1.ReasonNoAllocatableGpu), recalledAt(1), warned(v1.WarningMixedProducts)),
			},
			{says: mixed(3), want: mixed(3)},
		},
		"one card of several products is left": {
			{says: mixed(3), want: mixed(3)},
			{says: labelled(1), want: labelled(1)},
		},
		"ResourceSlices go, and labels name one of their products": {
			{says: labelled(3, groups(a10x1, t4x2)), want: labelled(3, groups(a10x1, t4x2))},
			{
				says: labelled(1, groups(v1.GpuGroup{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-A10", Count: new(int32(1)), Source: v1.SourceLabels}), noUnits),
				want: labelled(3, groups(v1.GpuGroup{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-A10", Count: new(int32(1)), Source: v1.SourceLabels},
					with(&v1.GpuNode{Gpus: []v1.GpuGroup{t4x2}}, recalledAt(1)).Gpus[0]), noUnits, func(n *v1.GpuNode) {
					n.LastSeen = new(metav1.NewTime(start.Add(time.Minute)))
				}),
			},
			{says: mixed(3), want: with(mixed(3), groups(a10x1, t4x2), recalledAt(2), recalledFirst(1))},
		},
		"of several products some GPUs go while nothing names them": {
			{says: labelled(3, groups(a10x1, t4x2)), want: labelled(3, groups(a10x1, t4x2))},
			{says: wiped(3), want: with(labelled(3, groups(a10x1, t4x2), warned(v1.WarningLabelsMissing)), recalledAt(1))},
			{says: wiped(2), want: wiped(2, warned(v1.WarningGpuMissing), message("found 2 of the 3 GPUs that were read of this Node before"))},
		},
		"the processor's own graphics do not come up when GPUs are lost": {
			{says: labelled(8), want: labelled(8)},
			{
				says: wiped(0, groups(v1.GpuGroup{Vendor: v1.VendorIntel}), noUnits, notReady(v1.ReasonDevicePluginNotRegistered)),
				want: labelled(8, noUnits, notReady(v1.ReasonDevicePluginNotRegistered), recalledAt(1), warned(v1.WarningLabelsMissing)),
			},
		},
		"a cordon is still told when everything goes": {
			{says: labelled(8), want: labelled(8)},
			{
				bare: with(bare(false, v1.ReasonNodeNotReady, "x"), cordoned),
				want: labelled(8, noUnits, notReady(v1.ReasonNodeNotReady), message("x"), recalledAt(1), cordoned, warned(v1.WarningCordoned, v1.WarningLabelsMissing)),
			},
		},
		"units of shared GPUs come after a plugin was gone, before labels": {
			{says: labelled(8, append(shared, noUnits)...), want: labelled(8, append(shared, noUnits)...)},
			{says: labelled(8), want: labelled(8)},
		},
		"two drivers: units of DRA devices are told apart by theirs": {
			{
				says: wiped(2, groups(v1.GpuGroup{Vendor: v1.VendorAMD, Count: new(int32(1)), Source: v1.SourceResources}, v1.GpuGroup{Vendor: v1.VendorNVIDIA, Count: new(int32(1)), Source: v1.SourceResources}),
					noUnits, units("dra:gpu.amd.com", 1, 1), units("nvidia.com/gpu", 1, 1)),
				want: wiped(2, groups(v1.GpuGroup{Vendor: v1.VendorAMD, Count: new(int32(1)), Source: v1.SourceResources}, v1.GpuGroup{Vendor: v1.VendorNVIDIA, Count: new(int32(1)), Source: v1.SourceResources}),
					noUnits, units("dra:gpu.amd.com", 1, 1), units("nvidia.com/gpu", 1, 1)),
			},
			{
				says: wiped(1),
				want: wiped(2, groups(v1.GpuGroup{Vendor: v1.VendorAMD, Count: new(int32(1)), Source: v1.SourceLastKnown}, v1.GpuGroup{Vendor: v1.VendorNVIDIA, Count: new(int32(1)), Source: v1.SourceResources}),
					noUnits, units("nvidia.com/gpu", 1, 1), recalledFirst(1), warned(v1.WarningLabelsMissing)),
			},
		},
		"ResourceSlices of MIG devices go, and labels name the GPUs": {
			{says: labelled(8, draMIG...), want: labelled(8, draMIG...)},
			{
				says: labelled(8, noUnits, units("dra:gpu.amd.com", 1, 1)),
				want: labelled(8, sharing(v1.SharingMIG, "MIG-1g.10gb"), noUnits, units("dra:gpu.amd.com", 1, 1), recalledAt(1)),
			},
		},
		"the machine type does not rename what the machine said": {
			{says: labelled(8), want: labelled(8)},
			{
				says: labelled(8, groups(v1.GpuGroup{Vendor: v1.VendorNVIDIA, Product: "h100", Count: new(int32(8)), MemoryMiB: new(int64(81920)), Source: v1.SourceCloud})),
				want: labelled(8, recalledAt(1), warned(v1.WarningLabelsMissing)),
			},
		},
		"of two resources both go and one returns first": {
			{says: twoResources, want: twoResources},
			{
				says: with(twoResources, uncounted, noUnits, notReady(v1.ReasonNoAllocatableGpu)),
				want: with(twoResources, noUnits, notReady(v1.ReasonNoAllocatableGpu), recalledAt(1)),
			},
			{says: wiped(2), want: with(wiped(4, units("nvidia.com/gpu", 2, 2)), recalledAt(1))},
		},
		"one of two resources takes over all GPUs, of which one goes": {
			{says: twoResources, want: twoResources},
			{says: wiped(4), want: wiped(4)},
			{says: wiped(3), want: wiped(3, warned(v1.WarningGpuMissing), message("found 3 of the 4 GPUs that were read of this Node before"))},
		},
		"the machine type has no say in how many GPUs there were": {
			{says: labelled(8, source(v1.SourceCloud), noUnits), want: labelled(8, source(v1.SourceCloud), noUnits)},
			{says: labelled(7), want: labelled(7)},
		},
		"vGPUs hide the number of GPUs, under another spelling of the model": {
			{says: labelled(2, product("NVIDIA-A10")), want: labelled(2, product("NVIDIA-A10"))},
			{says: vgpus, want: with(vgpus, func(n *v1.GpuNode) {
				n.GpuCount, n.Gpus[0].Count, n.Gpus[0].MemoryMiB = new(int32(2)), new(int32(2)), new(int64(81559))
			}, recalledAt(1))},
		},
		"another model is another card": {
			{says: labelled(2, product("NVIDIA-A100")), want: labelled(2, product("NVIDIA-A100"))},
			{says: vgpus, want: vgpus},
		},
		"slices are laid out anew while labels are gone": {
			{says: labelled(8, mig...), want: labelled(8, mig...)},
			{
				says: wiped(0, unlabelled, sharing(v1.SharingMIG, "MIG-mixed"), units("nvidia.com/mig-1g.10gb", 7, 7)),
				want: with(labelled(8, mig...), sharing(v1.SharingMIG, "MIG-mixed"), noUnits, units("nvidia.com/mig-1g.10gb", 7, 7), func(n *v1.GpuNode) {
					n.Gpus[0].MemoryPerUnitMiB = nil
				}, recalledAt(1), warned(v1.WarningLabelsMissing)),
			},
		},
		"labels name one of two products for all units, which contradicts them": {
			{says: labelled(3, groups(a10x1, t4x2)), want: labelled(3, groups(a10x1, t4x2))},
			{
				says: labelled(3, groups(v1.GpuGroup{Vendor: v1.VendorNVIDIA, Product: "Tesla-T4", Count: new(int32(3)), Source: v1.SourceLabels}), warned(v1.WarningCountMismatch)),
				want: labelled(3, groups(a10x1, t4x2), recalledAt(1), warned(v1.WarningCountMismatch)),
			},
		},
		"of two resources one returns first": {
			{says: twoResources, want: twoResources},
			{says: wiped(2), want: with(wiped(4, units("nvidia.com/gpu", 2, 2)), recalledAt(1))},
		},
		"missing labels are expected where GPUs are for virtual machines": {
			{says: labelled(8), want: labelled(8)},
			{
				says: wiped(8, func(n *v1.GpuNode) { n.WorkloadMode = v1.WorkloadModeVMPassthrough }),
				want: labelled(8, recalledAt(1), func(n *v1.GpuNode) { n.WorkloadMode = v1.WorkloadModeVMPassthrough }),
			},
		},
		"an intention that is withdrawn leaves nothing": {
			{says: wiped(0, unlabelled), want: wiped(0, unlabelled)},
			{bare: bare(true, v1.ReasonOK, "")},
		},
		"a plugin that was registered once is remembered": {
			{says: wiped(0, unlabelled, notReady(v1.ReasonNoAllocatableGpu)), want: wiped(0, unlabelled, notReady(v1.ReasonNoAllocatableGpu))},
			{bare: bare(false, v1.ReasonNodeNotReady, "x"), want: wiped(0, unlabelled, notReady(v1.ReasonNodeNotReady), message("x"), recalledAt(1), warned(v1.WarningLabelsMissing))},
		},
	}
	for name, steps := range cases {
		t.Run(name, func(t *testing.T) {
			var m Store
			id := Node{Name: "a", UID: "1", Created: start.Add(-time.Hour)}
			for minute, step := range steps {
				reading, isGPU := step.says, true
				if reading == nil {
					reading, isGPU = step.bare, false
				}
				input := reading.DeepCopy()
				got, ok := m.Recall(id, *reading, isGPU, start.Add(time.Duration(minute)*time.Minute))
				if ok != (step.want != nil) {
					t.Fatalf("minute %d: GPU node %v, want %v", minute, ok, step.want != nil)
				}
				if !ok {
					continue
				}
				if diff := cmp.Diff(*step.want, got); diff != "" {
					t.Errorf("minute %d (-want +got):\n%s", minute, diff)
				}
				if diff := cmp.Diff(input, reading); diff != "" {
					t.Errorf("minute %d: the reading was changed (-before +after):\n%s", minute, diff)
				}
			}
		})
	}
}
