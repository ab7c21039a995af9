package publish

import (
	"sync"

	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// snapshots are the inventories computed since the fleet last changed. The status of an inventory over all Nodes and the
// ConfigMap are one computation and one copy in memory, not two.
type snapshots struct {
	mu         sync.Mutex
	version    uint64
	bySelector map[string]v1.GpuInventoryStatus
}

// of returns the inventory of the selected Nodes. It is shared, as are its rows, and must not be changed.
func (s *snapshots) of(f *fleet.Fleet, selector labels.Selector) v1.GpuInventoryStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The version comes first: a change while the rows are read makes what is computed from them old, not new.
	if version := f.Version(); s.bySelector == nil || s.version != version {
		s.version, s.bySelector = version, map[string]v1.GpuInventoryStatus{}
	}
	key := selector.String()
	found, ok := s.bySelector[key]
	if !ok {
		found = inventory.Snapshot(f.Rows(selector))
		s.bySelector[key] = found
	}
	return found
}
