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
	term int // counted up by Reset
	done int // the term that has its memory, counted from 1
}

// Seed reads the statuses, if that has not been done in this term. Without the CRD there are none, and without the
// permission to read them the answers that need none of them go on: then it is tried again with each.
func (s *Seeder) Seed(ctx context.Context) error {
	s.mu.Lock()
	term := s.term + 1
	done := s.done == term
	s.mu.Unlock()
	if done {
		return nil
	}
	var stored v1.GpuInventoryList
	err := s.Reader.List(ctx, &stored)
	switch {
	case apierrors.IsForbidden(err):
		return nil
	case err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err):
		return fmt.Errorf("list gpuinventories: %w", err)
	}
	s.Fleet.seed(stored.Items)
	s.mu.Lock()
	s.done = term
	s.mu.Unlock()
	return nil
}

// Reset ends a term. It never waits.
func (s *Seeder) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term++
}
