package inventory

import (
	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory/inventorytest"
)

// The builders that other packages' tests share.
var (
	row, units, notReady = inventorytest.Row, inventorytest.Units, inventorytest.NotReady
	sharing, product     = inventorytest.Sharing, inventorytest.Product
	cordoned, unlabelled = inventorytest.Cordoned, inventorytest.Unlabelled
	roundTrip            = inventorytest.RoundTrip
)

// holding says how many units of a resource are held.
func holding(name string, n int64) func(*v1.GpuNode) {
	return func(node *v1.GpuNode) {
		for i := range node.Resources {
			if node.Resources[i].Name == name {
				node.Resources[i].Allocated = &n
			}
		}
	}
}

func lastKnown(n *v1.GpuNode) { n.Gpus[0].Source = v1.SourceLastKnown }
