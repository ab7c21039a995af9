package source

import (
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// Fleet is what the Nodes say now, one reading for each, kept current by the watches. It tells its listeners when a
// reading changes; heartbeats end before that.
type Fleet struct {
	options gpu.Options
	labels  labelPacker

	mu      sync.RWMutex
	nodes   map[string]*node
	devices map[string]*dra.Devices
	listen  []func(Change)
	memory  inventory.Memory
	now     func() time.Time

	// Who holds GPUs; the tally is nil when nobody wants to know.
	tally  *holders.Tally
	pods   *ledger[holders.Holding]
	claims *ledger[holders.Claim]
	known  inventory.Known

	version   atomic.Uint64 // counts changes
	snapshots snapshots
}

// node is one Node: what was kept of it, and what that says.
type node struct {
	*evidence
	row   v1.GpuNode
	isGPU bool
}

// Change is a change of one node's part in any inventory.
type Change struct {
	// Before and After are the labels under which the node was and is counted; nil: it was not, or is not.
	Before, After labels.Labels
	// Row is true when what the node says of its GPUs differs.
	Row bool
	// All is true for a change that can concern any node.
	All bool
}

// Concerns reports whether the change can alter the inventory of the Nodes that a selector selects.
func (c Change) Concerns(selector labels.Selector) bool {
	if c.All {
		return true
	}
	was := c.Before != nil && selector.Matches(c.Before)
	is := c.After != nil && selector.Matches(c.After)
	return was != is || is && c.Row
}

// Moves reports whether labels of a selected node have changed, which can move it between the pools that an inventory
// expects.
func (c Change) Moves(selector labels.Selector) bool {
	return c.Before != nil && c.After != nil && selector.Matches(c.After) && !sameLabels(c.Before, c.After)
}

// none reports a change that can alter nothing: of a Node without GPUs, or back to what it was.
func (c Change) none() bool {
	return !c.All && (c.Before == nil && c.After == nil || !c.Row && sameLabels(c.Before, c.After))
}

// NewFleet is an empty fleet. With allocation it also knows who holds GPUs.
func NewFleet(options gpu.Options, allocation bool) *Fleet {
	f := &Fleet{options: options, nodes: map[string]*node{}, now: time.Now}
	if allocation {
		f.tally = holders.NewTally(options)
		f.pods = newLedger(f.tally.Add, f.tally.Remove)
		f.claims = newLedger(f.tally.AddClaim, f.tally.RemoveClaim)
	}
	return f
}

// OnChange calls f for each change. Call it before Run; f must return quickly.
func (f *Fleet) OnChange(listener func(Change)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listen = append(f.listen, listener)
}

// Rows has one row for each selected Node with GPUs, in no particular order. Rows share memory with the fleet and must
// not be changed.
func (f *Fleet) Rows(selector labels.Selector) []v1.GpuNode {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var rows []v1.GpuNode
	for _, n := range f.nodes {
		if n.isGPU && selector.Matches(n.labels) {
			rows = append(rows, n.row)
		}
	}
	if f.tally == nil {
		return rows
	}
	return inventory.WithAllocated(rows, f.tally.Held(), f.known)
}

// setNode takes a Node that was added or has changed.
func (f *Fleet) setNode(e *evidence) {
	f.mu.Lock()
	before := f.nodes[e.name]
	if before != nil && before.equal(e) {
		f.mu.Unlock()
		return
	}
	after := f.read(e)
	f.nodes[e.name] = after
	f.mu.Unlock()
	f.tell(changeOf(before, after))
}

func (f *Fleet) removeNode(name string) {
	f.mu.Lock()
	before := f.nodes[name]
	delete(f.nodes, name)
	f.memory.Forget(name)
	f.mu.Unlock()
	f.tell(changeOf(before, nil))
}

// replaceNodes takes the whole list, after which no other Node exists.
func (f *Fleet) replaceNodes(list []*evidence) {
	f.mu.Lock()
	gone := f.nodes
	f.nodes = make(map[string]*node, len(list))
	var changes []Change
	for _, e := range list {
		before := gone[e.name]
		delete(gone, e.name)
		if before != nil && before.equal(e) {
			f.nodes[e.name] = before
			continue
		}
		after := f.read(e)
		f.nodes[e.name] = after
		changes = append(changes, changeOf(before, after))
	}
	for name, before := range gone {
		f.memory.Forget(name)
		changes = append(changes, changeOf(before, nil))
	}
	f.mu.Unlock()
	f.tell(changes...)
}

// setDevices takes the DRA devices of all Nodes; nil: none published, or not known.
func (f *Fleet) setDevices(devices map[string]*dra.Devices) {
	f.mu.Lock()
	old := f.devices
	f.devices = devices
	if f.tally != nil {
		f.tallyDevices(old)
	}
	var changes []Change
	for name, before := range f.nodes {
		if reflect.DeepEqual(old[name], devices[name]) {
			continue
		}
		after := f.read(before.evidence)
		f.nodes[name] = after
		changes = append(changes, changeOf(before, after))
	}
	f.mu.Unlock()
	f.tell(changes...)
}

// tallyDevices tells the tally which devices are where. The lock must be held.
func (f *Fleet) tallyDevices(old map[string]*dra.Devices) {
	for name := range old {
		if f.devices[name] == nil {
			f.tally.SetDevices(name, nil)
		}
	}
	for name, devices := range f.devices {
		if !reflect.DeepEqual(old[name], devices) {
			f.tally.SetDevices(name, devices)
		}
	}
}

// read computes what a Node says, completed by what is remembered of it. The lock must be held.
func (f *Fleet) read(e *evidence) *node {
	full := e.node()
	reading, ok := gpu.Read(gpu.Input{Node: full, Devices: f.devices[e.name]}, f.options)
	id := inventory.NodeIdentity{Name: e.name, UID: e.uid, Created: e.created.Time, Hardware: inventory.HardwareOf(full.Labels)}
	row, ok := f.memory.Recall(id, reading.Row, ok, f.now())
	return &node{evidence: e, row: row, isGPU: ok}
}

// seed remembers what was written earlier.
func (f *Fleet) seed(stored []v1.GpuInventory) {
	f.mu.Lock()
	for i := range stored {
		f.memory.Seed(&stored[i].Status)
	}
	for name, before := range f.nodes {
		f.nodes[name] = f.read(before.evidence)
	}
	f.mu.Unlock()
	f.announce()
}

// Namespaces is what is held, by namespace; false: not known.
func (f *Fleet) Namespaces() (holders.Held, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.tally == nil || !f.known.Pods {
		return nil, false
	}
	held := holders.Held{}
	for namespace, units := range f.tally.Namespaces() {
		held[namespace] = maps.Clone(units)
	}
	return held, true
}

// Labels are a Node's labels; nil: there is no such Node.
func (f *Fleet) Labels(name string) map[string]string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if n := f.nodes[name]; n != nil {
		return n.labels.toMap()
	}
	return nil
}

// announce tells that anything may be different.
func (f *Fleet) announce() { f.tell(Change{All: true}) }

// tell follows every change of the fleet, those that no listener hears of included.
func (f *Fleet) tell(changes ...Change) {
	f.version.Add(1)
	f.mu.RLock()
	listeners := f.listen
	f.mu.RUnlock()
	for _, c := range changes {
		if c.none() {
			continue
		}
		for _, listen := range listeners {
			listen(c)
		}
	}
}

func changeOf(before, after *node) (c Change) {
	if before != nil && before.isGPU {
		c.Before = before.labels
	}
	if after != nil && after.isGPU {
		c.After = after.labels
	}
	c.Row = c.Before == nil || c.After == nil || !reflect.DeepEqual(before.row, after.row)
	return c
}
