package metrics

import v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"

// bytesPerMiB turns the MiB of the API into the base unit of metrics.
const bytesPerMiB = 1 << 20

// nodeSeries is roughly how many series a node has.
const nodeSeries = 8

// addNodes adds the series of every GPU node.
func addNodes(b *builder, nodes []v1.GpuNode) {
	seen := make(map[*label]bool, len(nodes))
	for i := range nodes {
		node := b.label(labelNode, nodes[i].Name)
		if seen[node] {
			continue // names are unique in a cluster, so this cannot be another node
		}
		seen[node] = true
		b.newScope()
		addNode(b, node, &nodes[i])
	}
}

func addNode(b *builder, node *label, n *v1.GpuNode) {
	b.add(gaugeNodeReady, boolean(n.Ready), node)
	if !n.Ready {
		b.add(gaugeNodeNotReadyReason, 1, node, b.label(labelReason, orUnknown(string(n.Reason))))
	}
	for _, w := range n.Warnings {
		b.add(gaugeNodeWarning, 1, node, b.label(labelWarning, orUnknown(string(w))))
	}
	counted := false
	for _, g := range groups(n) {
		product := b.label(labelProduct, orUnknown(g.Product))
		vendor := b.label(labelVendor, orUnknown(string(g.Vendor)))
		b.add(gaugeNodeInfo, 1, node, product,
			b.label(labelSharing, orUnknown(string(n.Sharing))),
			b.label(labelVariant, g.Variant),
			vendor,
			b.label(labelWorkloadMode, orUnknown(string(n.WorkloadMode))))
		addIfKnown(b, gaugeNodeGpus, g.Count, node, product, vendor)
		counted = counted || g.Count != nil
		if g.MemoryMiB != nil {
			b.add(gaugeNodeGpuMemory, float64(*g.MemoryMiB)*bytesPerMiB, node, product)
		}
	}
	if !counted { // the total can be known although that of each product is not
		addIfKnown(b, gaugeNodeGpus, n.GpuCount, node, b.label(labelProduct, valueUnknown), b.label(labelVendor, valueUnknown))
	}
	for i := range n.Resources {
		r := &n.Resources[i]
		resource := b.label(labelResource, r.Name)
		b.add(gaugeNodeResourceCapacity, float64(r.Capacity), node, resource)
		b.add(gaugeNodeResourceAllocatable, float64(r.Allocatable), node, resource)
		addIfKnown(b, gaugeNodeResourceAllocated, r.Allocated, node, resource)
	}
}

// groups returns the GPUs of a node. If no source names any, it returns one unknown product, so that queries that join on
// the node find it.
func groups(n *v1.GpuNode) []v1.GpuGroup {
	if len(n.Gpus) > 0 {
		return n.Gpus
	}
	return []v1.GpuGroup{{}}
}
