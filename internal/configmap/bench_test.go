package configmap

import (
	"fmt"
	"testing"
)

// BenchmarkRenderOf renders fleets of several sizes, of which one in 50 nodes is not ready. The larger ones do not fit.
func BenchmarkRenderOf(b *testing.B) {
	for _, nodes := range []int{100, 1_000, 5_000, 15_000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			inv := fleetOf(nodes/100, nodes/100, nodes-nodes/50, shortName)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Render(inv); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
