package status

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Sent knows the statuses that were sent last, so that one that comes back, as the answer to the write or by the watch, takes
// no memory of its own. Of thousands of rows a decoded copy has several MiB. The zero value is ready.
type Sent struct {
	mu   sync.Mutex
	last map[string]*v1.GpuInventoryStatus
}

// Transform is the transform of a cache of GpuInventories.
func (s *Sent) Transform(obj any) (any, error) {
	if inv, ok := obj.(*v1.GpuInventory); ok {
		s.share(inv)
	}
	return cache.TransformStripManagedFields()(obj)
}

// share gives a GpuInventory the memory of the status that was sent, if it has that status.
func (s *Sent) share(inv *v1.GpuInventory) {
	s.mu.Lock()
	last := s.last[inv.Name]
	s.mu.Unlock()
	if last != nil && equality.Semantic.DeepEqual(inv.Status, *last) {
		inv.Status = *last
	}
}

// sending remembers a status before it is sent: the watch may be faster than the answer.
func (s *Sent) sending(name string, status *v1.GpuInventoryStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last = map[string]*v1.GpuInventoryStatus{}
	}
	s.last[name] = status
}

func (s *Sent) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last, name)
}
