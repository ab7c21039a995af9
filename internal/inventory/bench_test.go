package inventory

import (
	"fmt"
	"math/rand/v2"
	"testing"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// BenchmarkSnapshotOf computes inventories of fleets of several sizes, from rows in no order.
func BenchmarkSnapshotOf(b *testing.B) {
	for _, nodes := range []int{100, 1_000, 5_000, 15_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			rows := make([]v1.GpuNode, 0, nodes)
			for i := range nodes {
				rows = append(rows, row(fmt.Sprintf("node-%05d", i), 8, holding(gpus, int64(i%9)), func(n *v1.GpuNode) {
					n.Gpus[0].Product = fmt.Sprint("product-", i%4)
				}))
			}
			rand.New(rand.NewPCG(1, 1)).Shuffle(nodes, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
			b.ReportAllocs()
			for b.Loop() {
				Snapshot(rows)
			}
		})
	}
}
