package holders

import (
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// Held is how many units of each GPU resource are held, by place and then by resource name. A place is a node or a
// namespace. Nothing held has no entry.
type Held map[string]map[string]int64

// add changes a number. Numbers that become 0 and places that become empty go.
func (h Held) add(place, resource string, n int64) {
	units := h[place]
	if units == nil {
		units = map[string]int64{}
		h[place] = units
	}
	if units[resource] += n; units[resource] == 0 {
		delete(units, resource)
	}
	if len(units) == 0 {
		delete(h, place)
	}
}

// Tally adds up what pods and ResourceClaims hold. What it says depends only on what is in it, not on the order in which
// it came or on what has gone since. It is not safe for concurrent use.
type Tally struct {
	opts              gpu.Options
	nodes, namespaces Held

	claimed   map[dra.DeviceID]map[string]int // claims on a device, by the Node that they name
	used      map[use]int                     // claims of a namespace on a device
	taken     map[unit]int                    // claimed devices that take a unit
	published map[dra.DeviceID]published
	byNode    map[string][]dra.DeviceID
}

// use is a namespace's use of a device.
type use struct {
	namespace string
	device    dra.DeviceID
}

// unit is a unit of a node's resource dra:<driver>.
type unit struct {
	node   string
	device dra.DeviceID
}

// published is where a device is and what it takes there.
type published struct {
	node  string
	units []dra.DeviceID
}

// NewTally is an empty tally. The options must be those that the Nodes are read with.
func NewTally(opts gpu.Options) *Tally {
	return &Tally{
		opts: opts, nodes: Held{}, namespaces: Held{},
		claimed: map[dra.DeviceID]map[string]int{}, used: map[use]int{}, taken: map[unit]int{},
		published: map[dra.DeviceID]published{}, byNode: map[string][]dra.DeviceID{},
	}
}

// Held is what is held, by node. DRA devices are the units of dra:<driver>: a card that several claims share, or of which
// several parts are claimed while it is published whole, is one. The map is the tally's own: read it before the next change,
// and do not change it.
func (t *Tally) Held() Held { return t.nodes }

// Namespaces is what is held, by namespace. Of DRA it counts devices: one that claims of several namespaces share counts in
// each. The map is the tally's own: read it before the next change, and do not change it.
func (t *Tally) Namespaces() Held { return t.namespaces }

// Add adds what a pod holds.
func (t *Tally) Add(h Holding) { t.count(h, 1) }

// Remove takes out what a pod held. It must have been added.
func (t *Tally) Remove(h Holding) { t.count(h, -1) }

func (t *Tally) count(h Holding, sign int64) {
	for _, u := range h.Units {
		t.nodes.add(h.Node, u.Resource, sign*u.Count)
		t.namespaces.add(h.Namespace, u.Resource, sign*u.Count)
	}
}

// AddClaim adds what a ResourceClaim holds.
func (t *Tally) AddClaim(c Claim) {
	for _, d := range c.Devices {
		nodes := t.claimed[d]
		if nodes == nil {
			nodes = map[string]int{}
			t.claimed[d] = nodes
		}
		if nodes[c.Node]++; nodes[c.Node] == 1 {
			t.take(d, c.Node, 1)
		}
		u := use{c.Namespace, d}
		if t.used[u]++; t.used[u] == 1 {
			t.namespaces.add(c.Namespace, gpu.DRAResource(d.Driver), 1)
		}
	}
}

// RemoveClaim takes out what a ResourceClaim held. It must have been added.
func (t *Tally) RemoveClaim(c Claim) {
	for _, d := range c.Devices {
		nodes := t.claimed[d]
		if nodes[c.Node]--; nodes[c.Node] == 0 {
			t.take(d, c.Node, -1)
			delete(nodes, c.Node)
		}
		if len(nodes) == 0 {
			delete(t.claimed, d)
		}
		u := use{c.Namespace, d}
		if t.used[u]--; t.used[u] == 0 {
			t.namespaces.add(c.Namespace, gpu.DRAResource(d.Driver), -1)
			delete(t.used, u)
		}
	}
}

// SetDevices says what DRA drivers publish for a Node; nil: nothing. A claimed device that nobody publishes stays held, on
// the Node that the claim or else the pool is named after.
func (t *Tally) SetDevices(node string, devices *dra.Devices) {
	for _, d := range t.byNode[node] {
		if t.published[d].node == node { // else it has moved to another node meanwhile
			t.move(d, func() { delete(t.published, d) })
		}
	}
	delete(t.byNode, node)
	for d, units := range gpu.DeviceUnits(devices, t.opts) {
		t.move(d, func() { t.published[d] = published{node, units} })
		t.byNode[node] = append(t.byNode[node], d)
	}
}

// move changes where a device is.
func (t *Tally) move(d dra.DeviceID, change func()) {
	t.takeClaimed(d, -1)
	change()
	t.takeClaimed(d, 1)
}

// takeClaimed takes or gives back what claims on a device take.
func (t *Tally) takeClaimed(d dra.DeviceID, sign int) {
	for named := range t.claimed[d] {
		t.take(d, named, sign)
	}
}

// take takes or gives back the units that a claim on a device takes. named is the Node that the claim names.
func (t *Tally) take(d dra.DeviceID, named string, sign int) {
	p, ok := t.published[d]
	if !ok {
		p = published{named, []dra.DeviceID{d}}
		if named == "" {
			p.node = d.Pool
		}
	}
	for _, device := range p.units {
		u := unit{p.node, device}
		was := t.taken[u]
		t.taken[u] += sign
		switch {
		case was == 0:
			t.nodes.add(u.node, gpu.DRAResource(d.Driver), 1)
		case t.taken[u] == 0:
			t.nodes.add(u.node, gpu.DRAResource(d.Driver), -1)
			delete(t.taken, u)
		}
	}
}
