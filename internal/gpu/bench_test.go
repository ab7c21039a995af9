package gpu

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/test/scale/fleet"
)

// BenchmarkReadOf reads fleets of several sizes, of Nodes as large as real ones.
func BenchmarkReadOf(b *testing.B) {
	for _, size := range []int{100, 1_000, 5_000, 15_000} {
		b.Run(fmt.Sprintf("nodes=%d", size), func(b *testing.B) {
			nodes := make([]*corev1.Node, 0, size)
			for i := range size {
				n := fleet.Node(i)
				Reduce(n, Options{}) // as they are kept
				nodes = append(nodes, n)
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, n := range nodes {
					if _, ok := Read(Input{Node: n}, Options{}); !ok {
						b.Fatalf("%s shows no GPUs", n.Name)
					}
				}
			}
		})
	}
}

// BenchmarkRead reads a Node with labels and a resource, as most GPU nodes are.
func BenchmarkRead(b *testing.B) {
	in := Input{Node: node(h100s, labels("gpu.present=true", "gpu.deploy.device-plugin=true", "feature.node.kubernetes.io/pci-10de.present=true"))}
	b.ReportAllocs()
	for b.Loop() {
		Read(in, Options{})
	}
}

// BenchmarkChanged compares two versions of a Node that differ in a heartbeat.
func BenchmarkChanged(b *testing.B) {
	before := node(h100s)
	after := before.DeepCopy()
	after.Status.Conditions[0].LastHeartbeatTime = transition
	b.ReportAllocs()
	for b.Loop() {
		Changed(before, after, Options{})
	}
}
