package metrics

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

var conditionStatuses = []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}

// addInventory adds the series of one GpuInventory.
func addInventory(b *builder, name string, s *v1.GpuInventoryStatus) {
	inventory := b.label(labelInventory, name)

	addIfKnown(b, gaugeNodes, s.TotalGpuNodes, inventory)
	addIfKnown(b, gaugeReadyNodes, s.ReadyGpuNodes, inventory)
	addIfKnown(b, gaugeUnknownNodes, s.UnknownGpuNodes, inventory)
	addNotReady(b, s, inventory)
	addWarnings(b, s, inventory)
	for i := range s.Products {
		p := &s.Products[i]
		product := b.label(labelProduct, orUnknown(p.Product))
		if i >= maxProducts {
			product = b.label(labelProduct, valueOther)
		}
		vendor := b.label(labelVendor, orUnknown(string(p.Vendor)))
		addIfKnown(b, gaugeGpus, p.Gpus, inventory, product, vendor)
		addIfKnown(b, gaugeReadyGpus, p.ReadyGpus, inventory, product, vendor)
		addIfKnown(b, gaugeFreeGpus, p.FreeGpus, inventory, product, vendor)
		addIfKnown(b, gaugeLargestFreeGpus, p.LargestFree, inventory, product, vendor)
	}
	for i := range s.Resources {
		r := &s.Resources[i]
		resource := b.label(labelResource, r.Name)
		b.add(gaugeResourceCapacity, float64(r.Capacity), inventory, resource)
		b.add(gaugeResourceAllocatable, float64(r.Allocatable), inventory, resource)
		addIfKnown(b, gaugeResourceAllocated, r.Allocated, inventory, resource)
		addIfKnown(b, gaugeResourceFree, r.Free, inventory, resource)
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
		addIfKnown(b, gaugeExpectedGpus, pools[i].ExpectedGpus, inventory, pool)
		addIfKnown(b, gaugeMissingGpus, pools[i].MissingGpus, inventory, pool)
	}
}

// addNotReady counts the nodes that are not ready, by reason. If rows of such nodes were left out of the status, it adds
// nothing, because the counts would be too low.
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
			reason := b.label(labelReason, orUnknown(string(n.Reason)))
			b.add(gaugeNotReadyNodes, 1, inventory, reason)
			// This series exists for every reason, even with the value 0, so that it can be subtracted from the other one.
			b.add(gaugeNotReadyCordoned, boolean(slices.Contains(n.Warnings, v1.WarningCordoned)), inventory, reason)
		}
	}
}

// addWarnings counts the warnings of the nodes. If rows were left out, it adds nothing, because they may have had some.
func addWarnings(b *builder, s *v1.GpuInventoryStatus, inventory *label) {
	if s.NodesOmitted != 0 {
		return
	}
	for i := range s.Nodes {
		for _, w := range s.Nodes[i].Warnings {
			b.add(gaugeWarnings, 1, inventory, b.label(labelWarning, orUnknown(string(w))))
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
