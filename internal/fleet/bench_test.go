package fleet

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
	made "github.com/gpu-inventory/gpu-inventory-operator/test/scale/fleet"
)

var benchSizes = []int{100, 1_000, 5_000, 15_000}

// decoded is the i-th Node as it comes from the decoder: with strings of its own.
func decoded(tb testing.TB, i int) *corev1.Node {
	n := new(corev1.Node)
	text, err := made.Node(i).Marshal()
	if err == nil {
		err = n.Unmarshal(text)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// filled is a fleet of so many Nodes.
func filled(tb testing.TB, nodes int) *Fleet {
	f := New(gpu.Options{}, true)
	for i := range nodes {
		f.setNode(f.factsOf(decoded(tb, i)))
	}
	return f
}

// BenchmarkFleetKeeps measures the memory that a Node takes for as long as it exists, in bytes/node.
func BenchmarkFleetKeeps(b *testing.B) {
	for _, nodes := range benchSizes {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			var kept uint64
			b.ReportAllocs()
			for b.Loop() {
				before := heap()
				f := filled(b, nodes)
				kept = heap() - before
				runtime.KeepAlive(f)
			}
			b.ReportMetric(float64(kept)/float64(nodes), "bytes/node")
		})
	}
}

// heap is the memory in use after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // what weak references kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkHeartbeat packs a Node that differs in nothing that is kept, and drops it.
func BenchmarkHeartbeat(b *testing.B) {
	f := filled(b, 100)
	text, err := made.Node(7).Marshal()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		n := new(corev1.Node)
		if err := n.Unmarshal(text); err != nil {
			b.Fatal(err)
		}
		f.setNode(f.factsOf(n))
	}
}

// BenchmarkPodEvent looks at a Pod without GPUs, as four of five are.
func BenchmarkPodEvent(b *testing.B) {
	text, err := made.Pod(1, 10).Marshal()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p := new(corev1.Pod)
		if err := p.Unmarshal(text); err != nil {
			b.Fatal(err)
		}
		if _, ok := holders.OfPod(p, gpu.Options{}); ok {
			b.Fatal("a pod without GPUs holds some")
		}
	}
}

// BenchmarkRows collects the rows of all Nodes, as each reconcile does.
func BenchmarkRows(b *testing.B) {
	for _, nodes := range benchSizes {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			f := filled(b, nodes)
			b.ReportAllocs()
			for b.Loop() {
				if got := len(f.Rows(labels.Everything())); got != nodes {
					b.Fatalf("%d rows, want %d", got, nodes)
				}
			}
		})
	}
}
