package status

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/source"
)

// tracker knows which GpuInventories there are and which Nodes they cover. The watches ask it for every change of a Node;
// asking the cache instead would hold them up while that cache cannot be filled.
type tracker struct {
	mu    sync.Mutex
	known map[string]coverage
}

// coverage is what an inventory covers. A nil selector cannot be used, which its own reconcile reports.
type coverage struct {
	selector labels.Selector
	pools    bool // it expects pools, between which labels move Nodes
}

func (t *tracker) set(inv *v1.GpuInventory) {
	selector, err := inventory.Selector(inv.Spec.NodeSelector)
	if err != nil {
		selector = nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil {
		t.known = map[string]coverage{}
	}
	t.known[inv.Name] = coverage{selector, len(inv.Spec.Expected) > 0}
}

func (t *tracker) remove(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, name)
}

// concerned are requests for the inventories that a change can alter.
func (t *tracker) concerned(change source.Change) (out []reconcile.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, c := range t.known {
		if c.selector != nil && (change.Concerns(c.selector) || c.pools && change.Moves(c.selector)) {
			out = append(out, requestFor(name))
		}
	}
	return out
}

// all are requests for every inventory.
func (t *tracker) all() (out []reconcile.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(t.known)) {
		out = append(out, requestFor(name))
	}
	return out
}

func requestFor(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

// told is what Events have last told of each inventory, with the rows that were left out of its status for their size. It
// is the stored status that counts when somebody else has written since.
type told struct {
	mu   sync.Mutex
	last map[string]telling
}

type telling struct {
	uid     types.UID
	version string
	full    *v1.GpuInventoryStatus
}

// before is what the next Events compare with.
func (t *told) before(inv *v1.GpuInventory) *v1.GpuInventoryStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, ok := t.last[inv.Name]; ok && last.uid == inv.UID && last.version == inv.ResourceVersion {
		return last.full
	}
	return &inv.Status
}

func (t *told) set(written *v1.GpuInventory, full *v1.GpuInventoryStatus) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[string]telling{}
	}
	t.last[written.Name] = telling{written.UID, written.ResourceVersion, full}
}

func (t *told) forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.last, name)
}
