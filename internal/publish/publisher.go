package publish

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/leader"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/watch"
)

// FieldOwner is the field manager of what is published.
const FieldOwner = "gpu-inventory-operator"

// Publisher is what all outputs share.
type Publisher struct {
	// Fleet is what the Nodes say.
	Fleet *fleet.Fleet
	// Inputs keeps the fleet current, and knows what has not been read yet.
	Inputs *watch.Watcher
	// Leader says whether this replica may write.
	Leader *leader.Elector
	// Metrics counts reconciles and writes.
	Metrics *metrics.Recorder
	// Reader reads from the API server, not from a cache.
	Reader client.Reader
	// Now is the clock for the times in what is written.
	Now func() time.Time

	snapshots snapshots
	seeding   seeding
}

// Inventory returns the inventory of the selected Nodes as they are now. It is shared and must not be changed.
func (p *Publisher) Inventory(selector labels.Selector) v1.GpuInventoryStatus {
	return p.snapshots.of(p.Fleet, selector)
}

// EndTerm makes the next term of leadership begin with a memory of its own. It never waits.
func (p *Publisher) EndTerm() { p.seeding.endTerm() }

func (p *Publisher) seed(ctx context.Context) error { return p.seeding.seed(ctx, p.Reader, p.Fleet) }
