package metrics

import (
	"cmp"
	"slices"
)

// Type is the type of a metric, as the exposition format names it.
type Type string

// Types.
const (
	TypeCounter Type = "counter"
	TypeGauge   Type = "gauge"
)

// Family describes one metric that the operator exposes.
type Family struct {
	// Name is the full name of the metric.
	Name string
	// Type is counter or gauge.
	Type Type
	// Help is what a sample means.
	Help string
	// Labels are the label names, sorted. It is nil for a metric without labels.
	Labels []string
}

// Families lists every metric of this package, sorted by name.
func Families() []Family {
	all := slices.Clone(processFamilies)
	for _, g := range inventoryGauges {
		all = append(all, g.Family)
	}
	all = append(all, familyNamespaceAllocated)
	slices.SortFunc(all, func(a, b Family) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// gauge is a family whose samples come from inventories.
type gauge struct {
	Family
	// join returns one value for two samples with the same labels.
	join func(a, b float64) float64
}

// newGauge returns a gauge. The labels must be sorted by name, because the text has them in this order.
func newGauge(name string, join func(a, b float64) float64, help string, labels ...string) *gauge {
	return &gauge{
		Family: Family{Name: name, Type: TypeGauge, Help: help, Labels: labels},
		join:   join,
	}
}

// Gauges of the inventories.
var (
	gaugeNodes = newGauge(nameNodes, sum,
		"GPU nodes seen.", labelInventory)
	gaugeReadyNodes = newGauge(nameReadyNodes, sum,
		"GPU nodes usable for GPU work now.", labelInventory)
	gaugeUnknownNodes = newGauge(nameUnknownNodes, sum,
		"GPU nodes whose number of physical GPUs is not known.", labelInventory)
	gaugeNotReadyNodes = newGauge(nameNotReadyNodes, sum,
		"GPU nodes that are not ready, by reason.", labelInventory, labelReason)
	gaugeNotReadyCordoned = newGauge(nameNotReadyCordoned, sum,
		"GPU nodes that are not ready and cordoned, by reason.", labelInventory, labelReason)
	gaugeWarnings = newGauge(nameWarnings, sum,
		"Warnings on GPU nodes, one per node that has it.", labelInventory, labelWarning)
	gaugeGpus = newGauge(nameGpus, sum,
		"Physical GPUs known.", labelInventory, labelProduct, labelVendor)
	gaugeReadyGpus = newGauge(nameReadyGpus, sum,
		"Physical GPUs that are healthy and on ready nodes.", labelInventory, labelProduct, labelVendor)
	gaugeFreeGpus = newGauge(nameFreeGpus, sum,
		"Whole GPUs that nobody holds, on ready schedulable nodes.", labelInventory, labelProduct, labelVendor)
	gaugeLargestFreeGpus = newGauge(nameLargestFreeGpus, greatest,
		"Most free GPUs on one node: the biggest single-node job that fits.", labelInventory, labelProduct, labelVendor)
	gaugeResourceCapacity = newGauge(nameResourceCapacity, sum,
		"Units of a resource that the GPU nodes have.", labelInventory, labelResource)
	gaugeResourceAllocatable = newGauge(nameResourceAllocatable, sum,
		"Units of a resource that the kubelets offer.", labelInventory, labelResource)
	gaugeResourceAllocated = newGauge(nameResourceAllocated, sum,
		"Units of a resource that pods hold.", labelInventory, labelResource)
	gaugeResourceFree = newGauge(nameResourceFree, sum,
		"Units of a resource that nobody holds, on ready schedulable nodes.", labelInventory, labelResource)
	gaugeExpectedGpus = newGauge(nameExpectedGpus, sum,
		"Physical GPUs that spec.expected declares for a pool.", labelInventory, labelPool)
	gaugeMissingGpus = newGauge(nameMissingGpus, sum,
		"Physical GPUs of a pool that are missing for certain.", labelInventory, labelPool)
	gaugeCondition = newGauge(nameCondition, greatest,
		"Whether a condition of the inventory has this status.", labelCondition, labelInventory, labelStatus)
)

// Gauges of the nodes.
var (
	gaugeNodeInfo = newGauge(nameNodeInfo, greatest,
		"What a node's GPUs are, one sample per product, always 1.",
		labelNode, labelProduct, labelSharing, labelVariant, labelVendor, labelWorkloadMode)
	gaugeNodeReady = newGauge(nameNodeReady, greatest,
		"Whether the node is usable for GPU work now.", labelNode)
	gaugeNodeNotReadyReason = newGauge(nameNodeNotReadyReason, greatest,
		"Why the node is not ready, always 1.", labelNode, labelReason)
	gaugeNodeWarning = newGauge(nameNodeWarning, greatest,
		"A warning that the node has, always 1.", labelNode, labelWarning)
	gaugeNodeGpus = newGauge(nameNodeGpus, sum,
		"Physical GPUs of a node.", labelNode, labelProduct, labelVendor)
	gaugeNodeGpuMemory = newGauge(nameNodeGpuMemory, same,
		"Memory of one physical GPU.", labelNode, labelProduct)
	gaugeNodeResourceCapacity = newGauge(nameNodeResourceCapacity, sum,
		"Units of a resource that the node has.", labelNode, labelResource)
	gaugeNodeResourceAllocatable = newGauge(nameNodeResourceAllocatable, sum,
		"Units of a resource that the node's kubelet offers.", labelNode, labelResource)
	gaugeNodeResourceAllocated = newGauge(nameNodeResourceAllocated, sum,
		"Units of a resource that pods on the node hold.", labelNode, labelResource)
)

var familyNamespaceAllocated = Family{nameNamespaceAllocated, TypeGauge,
	"Units of a resource that a namespace holds.", []string{labelNamespace, labelResource}}

var inventoryGauges = []*gauge{
	gaugeNodes, gaugeReadyNodes, gaugeUnknownNodes, gaugeNotReadyNodes, gaugeNotReadyCordoned, gaugeWarnings,
	gaugeGpus, gaugeReadyGpus, gaugeFreeGpus, gaugeLargestFreeGpus,
	gaugeResourceCapacity, gaugeResourceAllocatable, gaugeResourceAllocated, gaugeResourceFree,
	gaugeExpectedGpus, gaugeMissingGpus, gaugeCondition,
	gaugeNodeInfo, gaugeNodeReady, gaugeNodeNotReadyReason, gaugeNodeWarning, gaugeNodeGpus, gaugeNodeGpuMemory,
	gaugeNodeResourceCapacity, gaugeNodeResourceAllocatable, gaugeNodeResourceAllocated,
}

// Families of the process.
var (
	familyReconcileTotal = Family{nameReconcileTotal, TypeCounter,
		"Reconciles, by their result.", []string{labelController, labelResult}}
	familyStatusWritesTotal = Family{nameStatusWritesTotal, TypeCounter,
		"Writes of an output to the API server, by their result.", []string{labelOutput, labelResult}}
	familyLastSuccess = Family{nameLastSuccess, TypeGauge,
		"When an output was last known to be up to date, in seconds since the epoch.", nil}
	familyStatusBytes = Family{nameStatusBytes, TypeGauge,
		"Size of an output at its last write.", []string{labelOutput}}
	familyBuildInfo = Family{nameBuildInfo, TypeGauge,
		"What the operator was built from, always 1.", []string{labelGoVersion, labelRevision, labelVersion}}
	familyLeader = Family{nameLeader, TypeGauge,
		"Whether this replica leads, that is, writes and exposes the inventory.", nil}
)

var processFamilies = []Family{
	familyReconcileTotal, familyStatusWritesTotal, familyLastSuccess, familyStatusBytes, familyBuildInfo, familyLeader,
}
