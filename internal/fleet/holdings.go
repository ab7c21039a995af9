package fleet

import (
	"unique"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// holdings is who holds GPUs.
type holdings struct {
	tally  *holders.Tally
	pods   *holdingsOf[holders.Holding]
	claims *holdingsOf[holders.Claim]
	read   inventory.HoldersRead
}

func newHoldings(options gpu.Options) *holdings {
	tally := holders.NewTally(options)
	return &holdings{
		tally:  tally,
		pods:   newHoldingsOf(tally.Add, tally.Remove),
		claims: newHoldingsOf(tally.AddClaim, tally.RemoveClaim),
	}
}

// WithoutClaims tells the fleet that no ResourceClaims will be read, because there are none: that none is held is known.
func (f *Fleet) WithoutClaims() {
	if f.holdings != nil {
		f.holdings.read.Claims = true
	}
}

// Pods returns the keeper of Pods. It keeps only those that hold GPUs.
func (f *Fleet) Pods() Keeper[*corev1.Pod, PodHolding] {
	of := func(p *corev1.Pod) (holders.Holding, bool) {
		held, ok := holders.OfPod(p, f.options)
		if ok {
			held = interned(held)
		}
		return held, ok
	}
	concerned := func(before, after *PodHolding) (changes []Change) {
		for _, h := range []*PodHolding{after, before} {
			if h == nil {
				continue
			}
			if n := f.nodes[h.held.Node]; n != nil && n.isGPU {
				changes = append(changes, Change{Before: n.facts.Labels(), After: n.facts.Labels(), Row: true})
			}
		}
		return changes
	}
	return keeperOf(f, f.holdings.pods, &f.holdings.read.Pods, of, concerned)
}

// HoldsGPUs reports whether Pods keeps the Pod.
func (f *Fleet) HoldsGPUs(p *corev1.Pod) bool {
	_, ok := holders.OfPod(p, f.options)
	return ok
}

// Claims returns the keeper of ResourceClaims. It keeps only those that hold devices of GPU drivers. A claim names devices,
// and only the tally knows which nodes they are on, so its changes can concern any node.
func (f *Fleet) Claims() Keeper[*resourcev1.ResourceClaim, ClaimHolding] {
	of := func(c *resourcev1.ResourceClaim) (holders.Claim, bool) { return holders.OfClaim(c, f.options) }
	concerned := func(_, _ *ClaimHolding) []Change { return []Change{{All: true}} }
	return keeperOf(f, f.holdings.claims, &f.holdings.read.Claims, of, concerned)
}

// Holding is what one object holds, under its key.
type Holding[H any] struct {
	key  string
	held H
}

// PodHolding is what one Pod holds.
type PodHolding = Holding[holders.Holding]

// ClaimHolding is what one ResourceClaim holds.
type ClaimHolding = Holding[holders.Claim]

// keeperOf returns a keeper of what objects hold, as of returns it. concerned returns the changes that follow when a holding
// replaces another, each of which may be nil; it is called with the lock held.
func keeperOf[O Object, H interface{ Equal(H) bool }](
	f *Fleet, all *holdingsOf[H], read *bool, of func(O) (H, bool), concerned func(before, after *Holding[H]) []Change,
) Keeper[O, Holding[H]] {
	return Keeper[O, Holding[H]]{
		Reduce: func(o O) *Holding[H] {
			held, ok := of(o)
			if !ok {
				return nil
			}
			return &Holding[H]{Key(o), held}
		},
		Set: func(h *Holding[H]) {
			f.mu.Lock()
			before, changed := all.set(h)
			if !changed {
				f.mu.Unlock()
				return
			}
			changes := concerned(before, h)
			f.mu.Unlock()
			f.tell(changes...)
		},
		Remove: func(key string) {
			f.mu.Lock()
			before := all.remove(key)
			if before == nil {
				f.mu.Unlock()
				return
			}
			changes := concerned(before, nil)
			f.mu.Unlock()
			f.tell(changes...)
		},
		Replace: func(list []*Holding[H]) {
			f.mu.Lock()
			all.replace(list)
			*read = true
			f.mu.Unlock()
			f.Announce()
		},
	}
}

// holdingsOf are the holdings of one kind of object, and a tally equal to them.
type holdingsOf[H interface{ Equal(H) bool }] struct {
	byKey          map[string]*Holding[H]
	count, uncount func(H) // of the tally
}

func newHoldingsOf[H interface{ Equal(H) bool }](count, uncount func(H)) *holdingsOf[H] {
	return &holdingsOf[H]{map[string]*Holding[H]{}, count, uncount}
}

// set takes a holding and returns the one that it replaces; nil: none. changed is false when both are equal.
func (a *holdingsOf[H]) set(h *Holding[H]) (before *Holding[H], changed bool) {
	before = a.byKey[h.key]
	if before != nil && before.held.Equal(h.held) {
		return before, false
	}
	if before != nil {
		a.uncount(before.held)
	}
	a.count(h.held)
	a.byKey[h.key] = h
	return before, true
}

// remove takes a holding out and returns it; nil: there was none.
func (a *holdingsOf[H]) remove(key string) *Holding[H] {
	before := a.byKey[key]
	if before != nil {
		a.uncount(before.held)
		delete(a.byKey, key)
	}
	return before
}

// replace puts a list in the place of all holdings.
func (a *holdingsOf[H]) replace(list []*Holding[H]) {
	for _, before := range a.byKey {
		a.uncount(before.held)
	}
	a.byKey = make(map[string]*Holding[H], len(list))
	for _, h := range list {
		a.count(h.held)
		a.byKey[h.key] = h
	}
}

// interned returns a holding that shares its strings with all others: thousands of Pods hold the same resource on few nodes.
func interned(h holders.Holding) holders.Holding {
	h.Node, h.Namespace = intern(h.Node), intern(h.Namespace)
	for i := range h.Units {
		h.Units[i].Resource = intern(h.Units[i].Resource)
	}
	return h
}

func intern(s string) string { return unique.Make(s).Value() }
