package memory

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory/inventorytest"
)

// The builders that the tests of the inventory share.
var (
	row, units, notReady = inventorytest.Row, inventorytest.Units, inventorytest.NotReady
	sharing, product     = inventorytest.Sharing, inventorytest.Product
	cordoned, unlabelled = inventorytest.Cordoned, inventorytest.Unlabelled
	roundTrip            = inventorytest.RoundTrip
)

const h100 = inventorytest.H100

// labelled is what the labels of a node with whole H100s and its plugin say.
func labelled(count int32, mods ...func(*v1.GpuNode)) *v1.GpuNode {
	n := row("a", count, slices.Concat([]func(*v1.GpuNode){memory(81559)}, mods)...)
	return &n
}

// wiped is the same node without labels.
func wiped(count int32, mods ...func(*v1.GpuNode)) *v1.GpuNode {
	n := row("a", count, slices.Concat([]func(*v1.GpuNode){groups(v1.GpuGroup{Vendor: v1.VendorNVIDIA, Count: &count, Source: v1.SourceResources})}, mods)...)
	return &n
}

func memory(mib int64) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) { n.Gpus[0].MemoryMiB = &mib }
}

// groups replaces the groups, and the count with theirs.
func groups(list ...v1.GpuGroup) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) { n.Gpus, n.GpuCount = list, inventory.TotalCount(list) }
}

func uncounted(n *v1.GpuNode) { n.GpuCount, n.Gpus[0].Count = nil, nil }

func source(s v1.Source) func(*v1.GpuNode) { return func(n *v1.GpuNode) { n.Gpus[0].Source = s } }

func noUnits(n *v1.GpuNode) { n.Resources = nil }

func warned(warnings ...v1.Warning) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) { n.Warnings = warnings }
}

// recalledAt marks the groups as last-known ones.
func recalledAt(minute int) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) {
		n.Gpus = slices.Clone(n.Gpus)
		for i := range n.Gpus {
			n.Gpus[i].Source = v1.SourceLastKnown
		}
		n.LastSeen = new(metav1.NewTime(start.Add(time.Duration(minute) * time.Minute)))
	}
}

// recalledFirst sets the time of the oldest of the last-known facts.
func recalledFirst(minute int) func(*v1.GpuNode) {
	return func(n *v1.GpuNode) { n.LastSeen = new(metav1.NewTime(start.Add(time.Duration(minute) * time.Minute))) }
}

func message(text string) func(*v1.GpuNode) { return func(n *v1.GpuNode) { n.Message = text } }

func with(n *v1.GpuNode, mods ...func(*v1.GpuNode)) *v1.GpuNode {
	out := n.DeepCopy()
	for _, mod := range mods {
		mod(out)
	}
	return out
}

// bare is what a Node without any evidence of GPUs says.
func bare(ready bool, reason v1.Reason, text string) *v1.GpuNode {
	return &v1.GpuNode{Name: "a", Ready: ready, Reason: reason, Message: text}
}

var (
	a10x1      = v1.GpuGroup{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-A10", Count: new(int32(1)), Source: v1.SourceSlices}
	t4x2       = v1.GpuGroup{Vendor: v1.VendorNVIDIA, Product: "Tesla-T4", Count: new(int32(2)), Source: v1.SourceSlices}
	lostH100x8 = "nothing on the Node speaks of its GPUs any more, last known: 8 x nvidia " + h100 +
		"; check feature discovery and the device plugin on it, or delete the Node object if the GPUs were taken out"
	found7of8 = "found 7 of the 8 GPUs that were read of this Node before"
)
