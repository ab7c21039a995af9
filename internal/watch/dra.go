package watch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
)

// gatherPeriod is how long changes of slices are gathered: a driver replaces the slices of a pool one by one, and every
// step concerns the whole pool.
const gatherPeriod = 200 * time.Millisecond

// draWatches keep a fleet current with what DRA says: the devices that drivers publish, the taints that rules add to them and,
// with allocation, the claims that hold them.
type draWatches struct {
	fleet     *fleet.Fleet
	discovery *draDiscovery
	changed   chan struct{} // has an entry while devices wait to be updated
}

// +kubebuilder:rbac:groups=resource.k8s.io,resources=resourceslices;resourceclaims;devicetaintrules,verbs=list;watch

func newDRAWatches(cfg *rest.Config, f *fleet.Fleet, log logr.Logger) (*draWatches, error) {
	d := &draWatches{fleet: f, changed: make(chan struct{}, 1)}
	clients, err := newDRAClients(cfg)
	if err != nil {
		return nil, err
	}
	kinds := []*draKind{d.slices(clients), d.taintRules(clients)}
	if f.Allocation() {
		kinds = append(kinds, d.claims(clients))
	}
	if d.discovery, err = newDRADiscovery(cfg, kinds, log); err != nil {
		return nil, fmt.Errorf("create discovery client: %w", err)
	}
	return d, nil
}

// run follows what the API server serves until ctx ends.
func (d *draWatches) run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { d.updateDevices(ctx) })
	running.Go(func() { d.discovery.run(ctx) })
	running.Wait()
}

// updateDevices updates the fleet's devices once changes have been gathered.
func (d *draWatches) updateDevices(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.changed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(gatherPeriod):
		}
		d.fleet.UpdateDevices()
	}
}

// updating returns a keeper whose changes lead to an update of devices. A whole list is updated at once: it is no step of a
// change, and others wait for it.
func updating[O fleet.Object, T any](d *draWatches, k fleet.Keeper[O, T]) fleet.Keeper[O, T] {
	change := func() {
		select {
		case d.changed <- struct{}{}:
		default:
		}
	}
	return fleet.Keeper[O, T]{
		Reduce:  k.Reduce,
		Set:     func(t *T) { k.Set(t); change() },
		Remove:  func(key string) { k.Remove(key); change() },
		Replace: func(list []*T) { k.Replace(list); d.fleet.UpdateDevices() },
	}
}
