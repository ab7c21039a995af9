package source

import (
	"unique"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

// entry is what an object holds, under the object's name. Objects that hold nothing have none.
type entry[H any] struct {
	key   string
	holds H
}

type (
	holding = entry[holders.Holding] // of a pod
	claim   = entry[holders.Claim]   // of a ResourceClaim
)

// ledger keeps the entries of one kind, and a tally equal to them.
type ledger[H interface{ Equal(H) bool }] struct {
	entries     map[string]*entry[H]
	add, remove func(H) // of the tally
}

func newLedger[H interface{ Equal(H) bool }](add, remove func(H)) *ledger[H] {
	return &ledger[H]{map[string]*entry[H]{}, add, remove}
}

// set takes an entry and returns the one before it; nil: there was none. It is false when both hold the same.
func (l *ledger[H]) set(e *entry[H]) (old *entry[H], changed bool) {
	old = l.entries[e.key]
	if old != nil && old.holds.Equal(e.holds) {
		return old, false
	}
	if old != nil {
		l.remove(old.holds)
	}
	l.add(e.holds)
	l.entries[e.key] = e
	return old, true
}

// drop takes an entry out and returns it; nil: there was none.
func (l *ledger[H]) drop(key string) *entry[H] {
	old := l.entries[key]
	if old != nil {
		l.remove(old.holds)
		delete(l.entries, key)
	}
	return old
}

// replace takes all entries in the place of those that there were.
func (l *ledger[H]) replace(list []*entry[H]) {
	for _, old := range l.entries {
		l.remove(old.holds)
	}
	l.entries = make(map[string]*entry[H], len(list))
	for _, e := range list {
		l.add(e.holds)
		l.entries[e.key] = e
	}
}

// shared is a holding whose strings are those of all others: thousands of pods hold the same resource on few nodes.
func shared(h holders.Holding) holders.Holding {
	h.Node, h.Namespace = intern(h.Node), intern(h.Namespace)
	for i := range h.Units {
		h.Units[i].Resource = intern(h.Units[i].Resource)
	}
	return h
}

func intern(s string) string { return unique.Make(s).Value() }

func (f *Fleet) setPod(p *holding) {
	f.mu.Lock()
	old, changed := f.pods.set(p)
	if !changed {
		f.mu.Unlock()
		return
	}
	nodes := []string{p.holds.Node}
	if old != nil {
		nodes = append(nodes, old.holds.Node)
	}
	changes := f.heldChanges(nodes)
	f.mu.Unlock()
	f.tell(changes...)
}

func (f *Fleet) removePod(key string) {
	f.mu.Lock()
	old := f.pods.drop(key)
	if old == nil {
		f.mu.Unlock()
		return
	}
	changes := f.heldChanges([]string{old.holds.Node})
	f.mu.Unlock()
	f.tell(changes...)
}

func (f *Fleet) replacePods(list []*holding) {
	f.mu.Lock()
	f.pods.replace(list)
	f.known.Pods = true
	f.mu.Unlock()
	f.announce()
}

// A claim names devices; which nodes they are on is the tally's to know. So any node may be concerned.

func (f *Fleet) setClaim(c *claim) {
	f.mu.Lock()
	_, changed := f.claims.set(c)
	f.mu.Unlock()
	if changed {
		f.announce()
	}
}

func (f *Fleet) removeClaim(key string) {
	f.mu.Lock()
	old := f.claims.drop(key)
	f.mu.Unlock()
	if old != nil {
		f.announce()
	}
}

func (f *Fleet) replaceClaims(list []*claim) {
	f.mu.Lock()
	f.claims.replace(list)
	f.known.Claims = true
	f.mu.Unlock()
	f.announce()
}

// heldChanges are the changes of nodes on which something else is held now. The lock must be held.
func (f *Fleet) heldChanges(names []string) []Change {
	var out []Change
	for _, name := range names {
		if n := f.nodes[name]; n != nil && n.isGPU {
			out = append(out, Change{Before: n.facts.Labels(), After: n.facts.Labels(), Row: true})
		}
	}
	return out
}
