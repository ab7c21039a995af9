package publish

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
)

// seeding fills the memory of the fleet from the stored statuses, once in each term of leadership and before its first
// answer: what a Node's GPUs were is known after a restart as before it.
type seeding struct {
	mu     sync.Mutex
	term   int // counted up by endTerm
	seeded int // the term that has been seeded, counted from 1
}

// seed reads the statuses, if that has not been done in this term. reader must read from the API server: a cache may not
// have what another replica has just written. Without the CRD there are no statuses. Without the permission to read them,
// answers go on without, and each tries again.
func (s *seeding) seed(ctx context.Context, reader client.Reader, into *fleet.Fleet) error {
	s.mu.Lock()
	term := s.term + 1
	seeded := s.seeded == term
	s.mu.Unlock()
	if seeded {
		return nil
	}
	var stored v1.GpuInventoryList
	err := reader.List(ctx, &stored)
	switch {
	case apierrors.IsForbidden(err):
		return nil
	case err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err):
		return fmt.Errorf("list gpuinventories: %w", err)
	}
	into.Remember(stored.Items)
	s.mu.Lock()
	s.seeded = term
	s.mu.Unlock()
	return nil
}

// endTerm never waits.
func (s *seeding) endTerm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term++
}
