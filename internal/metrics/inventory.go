package metrics

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

var conditionStatuses = []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}

// addInventory adds the series of one GpuInventory.
func addInventory(b *builder, name string, s *v1.GpuInventoryStatus) {
	inventory := b.label(labelInventory, name)

	addKnown(b, gaugeNodes, s.TotalGpuNodes, inventory)
	addKnown(b, gaugeReadyNodes, s.ReadyGpuNodes, inventory)
	addKnown(b, gaugeUnknownNodes, s.UnknownGpuNodes, inventory)
	addNotReady(b, s, inventory)
	for i := range s.Products {
		p := &s.Products[i]
		product := b.label(labelProduct, orUnknown(p.Product))
		if i >= maxProducts {
			product = b.label(labelProduct, valueOther)
		}
		vendor := b.label(labelVendor, orUnknown(string(p.Vendor)))
		addKnown(b, gaugeGpus, p.Gpus, inventory, product, vendor)
		addKnown(b, gaugeReadyGpus, p.ReadyGpus, inventory, product, vendor)
		addKnown(b, gaugeFreeGpus, p.FreeGpus, inventory, product, vendor)
		addKnown(b, gaugeLargestFreeGpus, p.LargestFree, inventory, product, vendor)
	}
	for i := range s.Resources {
		r := &s.Resources[i]
		resource := b.label(labelResource, r.Name)
		b.add(gaugeResourceCapacity, float64(r.Capacity), inventory, resource)
		b.add(gaugeResourceAllocatable, float64(r.Allocatable), inventory, resource)
		addKnown(b, gaugeResourceAllocated, r.Allocated, inventory, resource)
		addKnown(b, gaugeResourceFree, r.Free, inventory, resource)
	}
	for i := range s.Conditions {
		c := &s.Conditions[i]
		for _, status := range conditionStatuses {
			b.add(gaugeCondition, boolean(c.Status == status),
				b.label(labelCondition, c.Type), inventory, b.label(labelStatus, string(status)))
		}
	}
}

// addPools adds the series of the pools that a GpuInventory expects.
func addPools(b *builder, name string, pools []inventory.PoolState) {
	inventory := b.label(labelInventory, name)
	for i := range pools {
		pool := b.label(labelPool, pools[i].Name)
		addKnown(b, gaugeExpectedGpus, pools[i].ExpectedGpus, inventory, pool)
		addKnown(b, gaugeMissingGpus, pools[i].MissingGpus, inventory, pool)
	}
}

// addNotReady counts the nodes that are not ready by reason. When rows of such nodes were left out of the status, the
// counts would be too low, so there are none.
func addNotReady(b *builder, s *v1.GpuInventoryStatus, inventory *label) {
	rows := int32(0)
	for i := range s.Nodes {
		if !s.Nodes[i].Ready {
			rows++
		}
	}
	if s.TotalGpuNodes == nil || s.ReadyGpuNodes == nil || rows != *s.TotalGpuNodes-*s.ReadyGpuNodes {
		return
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; !n.Ready {
			b.add(gaugeNotReadyNodes, 1, inventory, b.label(labelReason, orUnknown(string(n.Reason))))
		}
	}
}

func orUnknown(s string) string {
	if s == "" {
		return valueUnknown
	}
	return s
}

func boolean(v bool) float64 {
	if v {
		return 1
	}
	return 0
}
