package publish

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/watch"
)

// Changes is a source for a controller: it enqueues what requests returns for each change of the fleet. The controller's
// workers start once Nodes and devices have been read, so that no answer is computed from half of its inputs.
func (p *Publisher) Changes(requests func(fleet.Change) []reconcile.Request) source.Source {
	return &changes{fleet: p.Fleet, inputs: p.Inputs, requests: requests}
}

type changes struct {
	fleet    *fleet.Fleet
	inputs   *watch.Watcher
	requests func(fleet.Change) []reconcile.Request
}

// Start implements source.Source.
func (c *changes) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	c.fleet.OnChange(func(change fleet.Change) {
		for _, r := range c.requests(change) {
			queue.Add(r)
		}
	})
	return nil
}

// WaitForSync implements source.SyncingSource.
func (c *changes) WaitForSync(ctx context.Context) error {
	if err := waitFor(ctx, c.inputs.NodesSynced); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, watch.Patience)
	defer cancel()
	_ = waitFor(ctx, c.inputs.DevicesSynced) // the answer itself says what is missing
	return nil
}

// String names the source in logs.
func (c *changes) String() string { return "changes of Nodes" }

// waitFor waits until check returns nil. When ctx ends first, it returns the last error of check.
func waitFor(ctx context.Context, check func() error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}
