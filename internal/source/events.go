package source

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// patience is how long answers wait for inputs besides Nodes. One that cannot be read, for want of a permission say, must
// not keep everything else from being told; the condition Complete names it then.
//
// A first answer waits for what DRA drivers publish, which is soon read, and not for Pods: there may be a hundred thousand.
// One that replaces a stored answer waits for Pods too, so that a restart does not take back for some seconds what it
// says a moment later.
const patience = 15 * time.Second

// Settling reports whether an input is still being read, and for so short a time that waiting for it is better than telling
// less than is stored.
func (f *Feed) Settling() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.nodesAt.IsZero() && time.Since(f.nodesAt) < patience && f.Synced() != nil
}

// Changes is a source of requests for a controller: what requests makes of each change of the fleet. The controller's
// workers start once the feed has synced, so that no answer is computed from half of its inputs.
func (f *Feed) Changes(requests func(context.Context, Change) []reconcile.Request) source.Source {
	return &changes{feed: f, requests: requests}
}

type changes struct {
	feed     *Feed
	requests func(context.Context, Change) []reconcile.Request
}

// Start implements source.Source.
func (c *changes) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	c.feed.fleet.OnChange(func(change Change) {
		for _, r := range c.requests(ctx, change) {
			queue.Add(r)
		}
	})
	return nil
}

// WaitForSync implements source.SyncingSource.
func (c *changes) WaitForSync(ctx context.Context) error {
	if err := waitFor(ctx, c.feed.nodesSynced); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = waitFor(ctx, c.feed.DevicesSynced) // the answer itself tells what is missing
	return nil
}

// String names the source in logs.
func (c *changes) String() string { return "changes of Nodes" }

// waitFor waits until check returns nil, or returns what it still says when ctx ends.
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
