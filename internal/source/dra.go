package source

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/rest"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// settle is how long changes of slices are gathered: a driver replaces the slices of a pool one by one, and every step
// concerns the whole pool.
const settle = 200 * time.Millisecond

// draFeed keeps what DRA says of a Fleet current: the devices that drivers publish, the taints that rules add to them and,
// with allocation, the claims that hold them.
type draFeed struct {
	fleet *Fleet
	kinds *served
	dirty chan struct{}

	publishing sync.Mutex // held from computing devices to handing them over, so that the newest come last

	mu     sync.Mutex
	slices map[string]*resourcev1.ResourceSlice
	rules  map[string]*dra.TaintRule
}

// +kubebuilder:rbac:groups=resource.k8s.io,resources=resourceslices;resourceclaims;devicetaintrules,verbs=list;watch

func newDRAFeed(cfg *rest.Config, fleet *Fleet, log logr.Logger) (*draFeed, error) {
	d := &draFeed{fleet: fleet, dirty: make(chan struct{}, 1), slices: map[string]*resourcev1.ResourceSlice{}, rules: map[string]*dra.TaintRule{}}
	clients, err := newDRAClients(cfg)
	if err != nil {
		return nil, err
	}
	kinds := []*draKind{d.sliceKind(clients), d.ruleKind(clients)}
	if fleet.tally != nil {
		kinds = append(kinds, claimKind(clients, fleet))
	}
	if d.kinds, err = newServed(cfg, kinds, log); err != nil {
		return nil, fmt.Errorf("create discovery client: %w", err)
	}
	return d, nil
}

// run follows what the API server serves until ctx ends.
func (d *draFeed) run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { d.publish(ctx) })
	running.Go(func() { d.kinds.run(ctx) })
	running.Wait()
}

func (d *draFeed) setSlice(s *resourcev1.ResourceSlice) {
	d.mu.Lock()
	d.slices[s.Name] = s
	d.mu.Unlock()
	d.touch()
}

func (d *draFeed) removeSlice(name string) {
	d.mu.Lock()
	delete(d.slices, name)
	d.mu.Unlock()
	d.touch()
}

func (d *draFeed) replaceSlices(list []*resourcev1.ResourceSlice) {
	d.mu.Lock()
	d.slices = make(map[string]*resourcev1.ResourceSlice, len(list))
	for _, s := range list {
		d.slices[s.Name] = s
	}
	d.mu.Unlock()
	d.publishNow() // a list is a settled state, and others wait for it
}

func (d *draFeed) setRule(r *dra.TaintRule) {
	d.mu.Lock()
	d.rules[r.Name] = r
	d.mu.Unlock()
	d.touch()
}

func (d *draFeed) removeRule(name string) {
	d.mu.Lock()
	_, ok := d.rules[name]
	delete(d.rules, name)
	d.mu.Unlock()
	if ok {
		d.touch()
	}
}

func (d *draFeed) replaceRules(list []*dra.TaintRule) {
	d.mu.Lock()
	d.rules = make(map[string]*dra.TaintRule, len(list))
	for _, r := range list {
		d.rules[r.Name] = r
	}
	d.mu.Unlock()
	d.publishNow()
}

func (d *draFeed) touch() {
	select {
	case d.dirty <- struct{}{}:
	default:
	}
}

// publish hands changed devices to the fleet once they have settled.
func (d *draFeed) publish(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.dirty:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settle):
		}
		d.publishNow()
	}
}

func (d *draFeed) publishNow() {
	d.publishing.Lock()
	defer d.publishing.Unlock()
	d.fleet.setDevices(d.devices())
}

// devices are the devices of every node, with the taints of rules beside those of the slices.
func (d *draFeed) devices() map[string]*dra.Devices {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]resourcev1.ResourceSlice, 0, len(d.slices))
	for _, s := range d.slices {
		all = append(all, *s)
	}
	devices := dra.DevicesByNode(all)
	dra.AddTaints(devices, slices.Collect(maps.Values(d.rules)))
	return devices
}
