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
	fleet       *v1.GpuInventoryStatus
}

// Put publishes the answer of a GpuInventory; nil withdraws it.
func (b *Board) Put(name string, s *v1.GpuInventoryStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// A new map for each change: readers keep the one they got.
	next := maps.Clone(b.inventories)
	if next == nil {
		next = map[string]*v1.GpuInventoryStatus{}
	}
	if s == nil {
		delete(next, name)
	} else {
		next[name] = s
	}
	b.inventories = next
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
	b.inventories, b.fleet = nil, nil
}

// Get returns the answers by GpuInventory name, and the one over all Nodes. Nil means not known yet.
func (b *Board) Get() (inventories map[string]*v1.GpuInventoryStatus, fleet *v1.GpuInventoryStatus) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.inventories, b.fleet
}
