package source

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Seeder gives a Fleet the memory of its predecessors, from the statuses that they wrote: what a Node's GPUs were is known
// after a restart as before it. Every answer is preceded by it, once in each term of leadership.
type Seeder struct {
	// Reader reads from the API server, not from a cache, which may not have what was just written by another replica.
	Reader client.Reader
	// Fleet is to remember.
	Fleet *Fleet

	mu   sync.Mutex
	done bool
}

// Seed reads the statuses, if that has not been done in this term. Without the CRD there are none.
func (s *Seeder) Seed(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		return nil
	}
	var stored v1.GpuInventoryList
	err := s.Reader.List(ctx, &stored)
	if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("list gpuinventories: %w", err)
	}
	s.Fleet.seed(stored.Items)
	s.done = true
	return nil
}

// Reset ends a term.
func (s *Seeder) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = false
}
