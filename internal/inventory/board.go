package inventory

import (
	"maps"
	"sync"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Board holds the latest answers for those who only read them, such as the metrics collector. Statuses on it are shared
// and must not be changed.
type Board struct {
	mu          sync.RWMutex
	inventories map[string]*v1.GpuInventoryStatus
	pools       map[string][]PoolState
	fleet       *v1.GpuInventoryStatus
}

// Put publishes the answer of a GpuInventory and the states of its expected pools, if it has any; nil withdraws both.
func (b *Board) Put(name string, s *v1.GpuInventoryStatus, pools ...PoolState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inventories = replaced(b.inventories, name, s, s != nil)
	b.pools = replaced(b.pools, name, pools, s != nil && len(pools) > 0)
}

// replaced is a map with another value, or without one. It is a new map: readers keep the one they got.
func replaced[T any](m map[string]T, name string, value T, present bool) map[string]T {
	next := maps.Clone(m)
	if next == nil {
		next = map[string]T{}
	}
	delete(next, name)
	if present {
		next[name] = value
	}
	return next
}

// PutFleet publishes the answer over all Nodes.
func (b *Board) PutFleet(s *v1.GpuInventoryStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fleet = s
}

// Clear withdraws everything: what a former leader knew is not news of the next term.
func (b *Board) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inventories, b.pools, b.fleet = nil, nil, nil
}

// Get returns the answers by GpuInventory name, and the one over all Nodes. Nil means not known yet.
func (b *Board) Get() (inventories map[string]*v1.GpuInventoryStatus, fleet *v1.GpuInventoryStatus) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.inventories, b.fleet
}

// Pools returns the states of the expected pools by GpuInventory name. One that expects nothing is not in it.
func (b *Board) Pools() map[string][]PoolState {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.pools
}
