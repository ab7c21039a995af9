package inventory

import (
	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// row is a ready node with count H100 and as many allocatable units, changed by mods.
func row(name string, count int32, mods ...func(*v1.GpuNode)) v1.GpuNode {
	n := v1.GpuNode{
		Name: name, Ready: true, Reason: v1.ReasonOK, GpuCount: &count,
		Gpus:    []v1.GpuGroup{{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-H100-80GB-HBM3", Count: &count, Source: v1.SourceLabels}},
		Sharing: v1.SharingNone, WorkloadMode: v1.WorkloadModeContainer,
	}
	units("nvidia.com/gpu", int64(count), int64(count))(&n)
	for _, mod := range mods {
		mod(&n)
	}
	return n
}

func notReady(reason v1.Reason) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) { n.Ready, n.Reason = false, reason }
}

func units(name string, capacity, allocatable int64) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) {
		for i := range n.Resources {
			if n.Resources[i].Name == name {
				n.Resources[i] = v1.NodeResource{Name: name, Capacity: capacity, Allocatable: allocatable}
				return
			}
		}
		n.Resources = append(n.Resources, v1.NodeResource{Name: name, Capacity: capacity, Allocatable: allocatable})
	}
}

// holding says how many units of a resource are held.
func holding(name string, n int64) func(*v1.GpuNode) {
	return func(node *v1.GpuNode) {
		for i := range node.Resources {
			if node.Resources[i].Name == name {
				node.Resources[i].Allocated = &n
			}
		}
	}
}

func cordoned(n *v1.GpuNode) { n.Unschedulable = true }

func sharing(s v1.Sharing, variant string) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) { n.Sharing, n.Gpus[0].Variant = s, variant }
}

func unlabelled(n *v1.GpuNode) {
	n.GpuCount = nil
	n.Gpus = []v1.GpuGroup{{Vendor: v1.VendorNVIDIA}}
	n.Resources = nil
}

func lastKnown(n *v1.GpuNode) { n.Gpus[0].Source = v1.SourceLastKnown }
