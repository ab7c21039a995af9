package source

import (
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

// holding is what a pod holds, under the pod's name. Pods that hold nothing are not kept.
type holding struct {
	key   string
	holds holders.Holding
}

// shared is a holding whose strings are those of all others: thousands of pods hold the same resource on few nodes.
func shared(h holders.Holding) holders.Holding {
	h.Node, h.Namespace = intern(h.Node), intern(h.Namespace)
	for i := range h.Units {
		h.Units[i].Resource = intern(h.Units[i].Resource)
	}
	return h
}

func (f *Fleet) setPod(p *holding) {
	f.mu.Lock()
	old := f.pods[p.key]
	if old != nil && old.holds.Equal(p.holds) {
		f.mu.Unlock()
		return
	}
	nodes := []string{p.holds.Node}
	if old != nil {
		f.tally.Remove(old.holds)
		nodes = append(nodes, old.holds.Node)
	}
	f.tally.Add(p.holds)
	f.pods[p.key] = p
	changes := f.heldChanges(nodes)
	f.mu.Unlock()
	f.tell(changes...)
}

func (f *Fleet) removePod(key string) {
	f.mu.Lock()
	old := f.pods[key]
	if old == nil {
		f.mu.Unlock()
		return
	}
	f.tally.Remove(old.holds)
	delete(f.pods, key)
	changes := f.heldChanges([]string{old.holds.Node})
	f.mu.Unlock()
	f.tell(changes...)
}

func (f *Fleet) replacePods(list []*holding) {
	f.mu.Lock()
	for _, old := range f.pods {
		f.tally.Remove(old.holds)
	}
	f.pods = make(map[string]*holding, len(list))
	for _, p := range list {
		f.tally.Add(p.holds)
		f.pods[p.key] = p
	}
	f.known.Pods = true
	f.mu.Unlock()
	f.announce()
}

func (f *Fleet) setClaim(c *claim) {
	f.mu.Lock()
	old := f.claims[c.key]
	if old != nil && old.holds.Equal(c.holds) {
		f.mu.Unlock()
		return
	}
	if old != nil {
		f.tally.RemoveClaim(old.holds)
	}
	f.tally.AddClaim(c.holds)
	f.claims[c.key] = c
	f.mu.Unlock()
	f.announce() // a claim names devices; which nodes they are on is the tally's to know
}

func (f *Fleet) removeClaim(key string) {
	f.mu.Lock()
	old := f.claims[key]
	if old == nil {
		f.mu.Unlock()
		return
	}
	f.tally.RemoveClaim(old.holds)
	delete(f.claims, key)
	f.mu.Unlock()
	f.announce()
}

func (f *Fleet) replaceClaims(list []*claim) {
	f.mu.Lock()
	for _, old := range f.claims {
		f.tally.RemoveClaim(old.holds)
	}
	f.claims = make(map[string]*claim, len(list))
	for _, c := range list {
		f.tally.AddClaim(c.holds)
		f.claims[c.key] = c
	}
	f.known.Claims = true
	f.mu.Unlock()
	f.announce()
}

// heldChanges are the changes of nodes on which something else is held now. The lock must be held.
func (f *Fleet) heldChanges(names []string) []Change {
	var out []Change
	for _, name := range names {
		if n := f.nodes[name]; n != nil && n.isGPU {
			out = append(out, Change{Before: n.labels, After: n.labels, Row: true})
		}
	}
	return out
}
