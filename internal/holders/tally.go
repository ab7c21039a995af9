package holders

import (
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// Held is how many units of each GPU resource are held, by place and then by resource name. A place is a node or a
// namespace. A resource of which nothing is held has no entry.
type Held map[string]map[string]int64

// add changes a number. It removes numbers that become 0 and places that become empty.
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

// Tally adds up what pods and ResourceClaims hold. The sums depend only on what is in it, not on the order in which that came
// or on what has been removed. It is not safe for concurrent use.
type Tally struct {
	opts              gpu.Options
	nodes, namespaces Held

	claimed   map[dra.DeviceID]map[string]int // claims on a device, by the Node that they name
	used      map[use]int                     // claims of a namespace on a device
	taken     map[takenUnit]int               // claimed devices that take a unit
	published map[dra.DeviceID]published
	byNode    map[string][]dra.DeviceID
}

// use is a namespace's use of a device.
type use struct {
	namespace string
	device    dra.DeviceID
}

// takenUnit is a unit of a node's resource dra:<driver>.
type takenUnit struct {
	node   string
	device dra.DeviceID
}

// published is where a device is and what it takes there.
type published struct {
	node  string
	units []dra.DeviceID
}

// NewTally returns an empty tally. The options must be those that the Nodes are read with.
func NewTally(opts gpu.Options) *Tally {
	return &Tally{
		opts: opts, nodes: Held{}, namespaces: Held{},
		claimed: map[dra.DeviceID]map[string]int{}, used: map[use]int{}, taken: map[takenUnit]int{},
		published: map[dra.DeviceID]published{}, byNode: map[string][]dra.DeviceID{},
	}
}

// Held returns what is held, by node. DRA devices are the units of dra:<driver>. A card is one unit when several claims share
// it, and when several parts of it are claimed while it is published whole. The map is the tally's own: read it before the
// next change, and do not change it.
func (t *Tally) Held() Held { return t.nodes }

// Namespaces returns what is held, by namespace. For DRA it counts devices; one that claims of several namespaces share counts
// in each of them. The map is the tally's own: read it before the next change, and do not change it.
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
func (t *Tally) AddClaim(c Claim) { t.countClaim(c, 1) }

// RemoveClaim takes out what a ResourceClaim held. It must have been added.
func (t *Tally) RemoveClaim(c Claim) { t.countClaim(c, -1) }

func (t *Tally) countClaim(c Claim, sign int) {
	for _, d := range c.Devices {
		nodes := t.claimed[d]
		if nodes == nil {
			nodes = map[string]int{}
			t.claimed[d] = nodes
		}
		if change := adjust(nodes, c.Node, sign); change != 0 {
			t.take(d, c.Node, change)
		}
		if len(nodes) == 0 {
			delete(t.claimed, d)
		}
		if change := adjust(t.used, use{c.Namespace, d}, sign); change != 0 {
			t.namespaces.add(c.Namespace, gpu.DRAResource(d.Driver), int64(change))
		}
	}
}

// adjust changes a count by sign and removes it when it becomes 0. It returns 1 for the first of a key, -1 for the last, and
// otherwise 0.
func adjust[K comparable](counts map[K]int, key K, sign int) (change int) {
	switch counts[key] += sign; {
	case counts[key] == 0:
		delete(counts, key)
		return -1
	case counts[key] == 1 && sign > 0:
		return 1
	}
	return 0
}

// SetDevices sets what DRA drivers publish for a Node; nil: nothing. A claimed device that nobody publishes stays held: on the
// Node that the claim names, or else on the one that has the name of the device's pool.
func (t *Tally) SetDevices(node string, devices *dra.Devices) {
	for _, d := range t.byNode[node] {
		if t.published[d].node == node { // otherwise it has moved to another node meanwhile
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
		if change := adjust(t.taken, takenUnit{p.node, device}, sign); change != 0 {
			t.nodes.add(p.node, gpu.DRAResource(d.Driver), int64(change))
		}
	}
}
