// Package inventorytest builds rows of GPU nodes for tests.
package inventorytest

import (
	"encoding/json"
	"testing"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// H100 is the product of the rows that Row makes.
const H100 = "NVIDIA-H100-80GB-HBM3"

// Row is a ready node with count H100 and as many allocatable units, changed by mods.
func Row(name string, count int32, mods ...func(*v1.GpuNode)) v1.GpuNode {
	n := v1.GpuNode{
		Name: name, Ready: true, Reason: v1.ReasonOK, GpuCount: &count,
		Gpus:    []v1.GpuGroup{{Vendor: v1.VendorNVIDIA, Product: H100, Count: &count, Source: v1.SourceLabels}},
		Sharing: v1.SharingNone, WorkloadMode: v1.WorkloadModeContainer,
	}
	Units("nvidia.com/gpu", int64(count), int64(count))(&n)
	for _, mod := range mods {
		mod(&n)
	}
	return n
}

// NotReady makes the node not ready.
func NotReady(reason v1.Reason) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) { n.Ready, n.Reason = false, reason }
}

// Units sets the units of a resource.
func Units(name string, capacity, allocatable int64) func(*v1.GpuNode) {
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

// Cordoned makes the node unschedulable.
func Cordoned(n *v1.GpuNode) { n.Unschedulable = true }

// Sharing sets how the GPUs are shared, and the variant of the first group.
func Sharing(s v1.Sharing, variant string) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) { n.Sharing, n.Gpus[0].Variant = s, variant }
}

// Product sets the product of the first group.
func Product(name string) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) { n.Gpus[0].Product = name }
}

// Unlabelled leaves of the GPUs only that they are NVIDIA's.
func Unlabelled(n *v1.GpuNode) {
	n.GpuCount = nil
	n.Gpus = []v1.GpuGroup{{Vendor: v1.VendorNVIDIA}}
	n.Resources = nil
}

// RoundTrip is what the API server makes of a status.
func RoundTrip(t *testing.T, s v1.GpuInventoryStatus) v1.GpuInventoryStatus {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var out v1.GpuInventoryStatus
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
