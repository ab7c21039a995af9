package status

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// coverage is which GpuInventories there are and which Nodes they cover. The watches ask it for every change of a Node;
// asking the cache instead would hold them up while that cache cannot be filled.
type coverage struct {
	mu     sync.Mutex
	byName map[string]covered
}

// covered is what one GpuInventory covers.
type covered struct {
	selector labels.Selector // nil: it cannot be used, which the inventory's own reconcile reports
	pools    bool            // it expects pools, between which labels move Nodes
}

func (c *coverage) set(inv *v1.GpuInventory) {
	selector, err := inventory.Selector(inv.Spec.NodeSelector)
	if err != nil {
		selector = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byName == nil {
		c.byName = map[string]covered{}
	}
	c.byName[inv.Name] = covered{selector, len(inv.Spec.Expected) > 0}
}

func (c *coverage) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byName, name)
}

// concerned returns requests for the inventories that a change can alter.
func (c *coverage) concerned(change fleet.Change) (out []reconcile.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, one := range c.byName {
		if one.selector != nil && (change.Concerns(one.selector) || one.pools && change.Moves(one.selector)) {
			out = append(out, requestFor(name))
		}
	}
	return out
}

// all returns requests for every inventory.
func (c *coverage) all() (out []reconcile.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(c.byName)) {
		out = append(out, requestFor(name))
	}
	return out
}

func requestFor(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}
