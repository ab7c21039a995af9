package gpu

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"

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

// BenchmarkFactsKept measures the memory that 5,000 Nodes take, in bytes/node: as facts that share labels, as facts that
// share nothing, and as typed Nodes.
func BenchmarkFactsKept(b *testing.B) {
	const nodes = 5_000
	var packer labelset.Packer
	for _, kept := range []struct {
		as   string
		keep func(*corev1.Node) any
	}{
		{"packed", func(n *corev1.Node) any { return FactsOf(n, Options{}, &packer) }},
		{"alone", func(n *corev1.Node) any { return FactsOf(n, Options{}, nil) }},
		{"typed", func(n *corev1.Node) any { return n }},
	} {
		b.Run(kept.as, func(b *testing.B) {
			var bytes uint64
			for b.Loop() {
				before := heap()
				all := make([]any, 0, nodes)
				for i := range nodes {
					all = append(all, kept.keep(decoded(b, i)))
				}
				bytes = heap() - before
				runtime.KeepAlive(all)
			}
			b.ReportMetric(float64(bytes)/nodes, "bytes/node")
		})
	}
}

// decoded returns the i-th Node as it comes from the decoder: with strings of its own.
func decoded(b *testing.B, i int) *corev1.Node {
	n := new(corev1.Node)
	text, err := fleet.Node(i).Marshal()
	if err == nil {
		err = n.Unmarshal(text)
	}
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// heap returns the memory in use after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // what weak references kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
