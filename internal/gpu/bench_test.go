package gpu

import (
	"fmt"
	"testing"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
	"github.com/gpu-inventory/gpu-inventory-operator/test/scale/fleet"
)

// BenchmarkReadOf reads fleets of several sizes, of Nodes as large as real ones.
func BenchmarkReadOf(b *testing.B) {
	for _, size := range []int{100, 1_000, 5_000, 15_000} {
		b.Run(fmt.Sprintf("nodes=%d", size), func(b *testing.B) {
			var packer labelset.Packer
			nodes := make([]*Facts, 0, size)
			for i := range size {
				nodes = append(nodes, FactsOf(fleet.Node(i), Options{}, &packer))
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, n := range nodes {
					if _, ok := Read(n, nil, Options{}); !ok {
						b.Fatalf("%s shows no GPUs", n.Name())
					}
				}
			}
		})
	}
}

// BenchmarkRead reads a Node with labels and a resource, as most GPU nodes are.
func BenchmarkRead(b *testing.B) {
	n := node(h100s, labels("gpu.present=true", "gpu.deploy.device-plugin=true", "feature.node.kubernetes.io/pci-10de.present=true"))
	facts := FactsOf(n, Options{}, nil)
	b.ReportAllocs()
	for b.Loop() {
		Read(facts, nil, Options{})
	}
}

// BenchmarkEqual compares two versions of a Node that differ in a heartbeat.
func BenchmarkEqual(b *testing.B) {
	before := node(h100s)
	after := before.DeepCopy()
	after.Status.Conditions[0].LastHeartbeatTime = transition
	was, is := FactsOf(before, Options{}, nil), FactsOf(after, Options{}, nil)
	b.ReportAllocs()
	for b.Loop() {
		if !was.Equal(is) {
			b.Fatal("a heartbeat is a change")
		}
	}
}
