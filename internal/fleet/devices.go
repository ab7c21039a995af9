package fleet

import (
	"maps"
	"reflect"
	"slices"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// published is what DRA drivers publish, and the rules that taint it. The devices of one Node may depend on the slices of
// others, so they are computed for all Nodes at once: see UpdateDevices.
type published struct {
	updating sync.Mutex // held from computing devices to taking them over, so that the newest come last

	mu     sync.Mutex
	slices map[string]*resourcev1.ResourceSlice
	rules  map[string]*dra.TaintRule
}

// Slices returns the keeper of ResourceSlices. Call UpdateDevices after their changes.
func (f *Fleet) Slices() Keeper[*resourcev1.ResourceSlice, resourcev1.ResourceSlice] {
	reduce := func(s *resourcev1.ResourceSlice) *resourcev1.ResourceSlice {
		s.ObjectMeta = metav1.ObjectMeta{Name: s.Name}
		return s
	}
	return keeperIn(&f.published.mu, &f.published.slices, reduce, func(s *resourcev1.ResourceSlice) string { return s.Name })
}

// TaintRules returns the keeper of DeviceTaintRules. Call UpdateDevices after their changes.
func (f *Fleet) TaintRules() Keeper[*resourcev1.DeviceTaintRule, dra.TaintRule] {
	return keeperIn(&f.published.mu, &f.published.rules, taintRuleOf, func(r *dra.TaintRule) string { return r.Name })
}

// keeperIn returns a keeper that only stores, in a map under a lock.
func keeperIn[O Object, T any](mu *sync.Mutex, all *map[string]*T, reduce func(O) *T, key func(*T) string) Keeper[O, T] {
	return Keeper[O, T]{
		Reduce: reduce,
		Set: func(t *T) {
			mu.Lock()
			defer mu.Unlock()
			if *all == nil {
				*all = map[string]*T{}
			}
			(*all)[key(t)] = t
		},
		Remove: func(key string) {
			mu.Lock()
			defer mu.Unlock()
			delete(*all, key)
		},
		Replace: func(list []*T) {
			mu.Lock()
			defer mu.Unlock()
			*all = make(map[string]*T, len(list))
			for _, t := range list {
				(*all)[key(t)] = t
			}
		},
	}
}

// UpdateDevices computes the devices of all Nodes from the slices and rules, and reads again the Nodes whose devices differ.
func (f *Fleet) UpdateDevices() {
	f.published.updating.Lock()
	defer f.published.updating.Unlock()
	f.setDevices(f.published.devices())
}

// devices returns the devices of every node, with the taints of rules beside those of the slices.
func (p *published) devices() map[string]*dra.Devices {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]resourcev1.ResourceSlice, 0, len(p.slices))
	for _, s := range p.slices {
		all = append(all, *s)
	}
	devices := dra.DevicesByNode(all)
	dra.AddTaints(devices, slices.Collect(maps.Values(p.rules)))
	return devices
}

func (f *Fleet) setDevices(devices map[string]*dra.Devices) {
	f.mu.Lock()
	before := f.devices
	f.devices = devices
	if f.holdings != nil {
		f.holdings.setDevices(before, devices)
	}
	var changes []Change
	for name, n := range f.nodes {
		if reflect.DeepEqual(before[name], devices[name]) {
			continue
		}
		after := f.read(n.facts)
		f.nodes[name] = after
		changes = append(changes, changeOf(n, after))
	}
	f.mu.Unlock()
	f.tell(changes...)
}

// setDevices tells the tally which devices are where.
func (h *holdings) setDevices(before, after map[string]*dra.Devices) {
	for name := range before {
		if after[name] == nil {
			h.tally.SetDevices(name, nil)
		}
	}
	for name, devices := range after {
		if !reflect.DeepEqual(before[name], devices) {
			h.tally.SetDevices(name, devices)
		}
	}
}

// taintRuleOf reduces a rule; nil: it selects no device.
func taintRuleOf(r *resourcev1.DeviceTaintRule) *dra.TaintRule {
	s, t := r.Spec.DeviceSelector, r.Spec.Taint
	if s == nil {
		return nil
	}
	return &dra.TaintRule{
		Name: r.Name, Driver: s.Driver, Pool: s.Pool, Device: s.Device,
		Taint: dra.DeviceTaint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)},
	}
}
