package fleet

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/memory"
)

// Fleet is what all Nodes of a cluster say now, with one row for each GPU node.
type Fleet struct {
	options   gpu.Options
	labels    labelset.Packer
	published published
	version   atomic.Uint64 // counts changes

	mu        sync.RWMutex
	nodes     map[string]*node
	devices   map[string]*dra.Devices
	memory    memory.Store
	holdings  *holdings // nil: nobody wants to know who holds GPUs
	listeners []func(Change)

	now func() time.Time
}

// New returns an empty fleet. With allocation it also knows who holds GPUs.
func New(options gpu.Options, allocation bool) *Fleet {
	f := &Fleet{options: options, nodes: map[string]*node{}, now: time.Now}
	if allocation {
		f.holdings = newHoldings(options)
	}
	return f
}

// Allocation reports whether the fleet is to know who holds GPUs.
func (f *Fleet) Allocation() bool { return f.holdings != nil }

// OnChange makes the fleet call listener for each change. Call it before the first object comes. The listener must return
// quickly.
func (f *Fleet) OnChange(listener func(Change)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners = append(f.listeners, listener)
}

// Version returns a number that grows with every change of the rows.
func (f *Fleet) Version() uint64 { return f.version.Load() }

// Rows returns one row for each selected Node with GPUs, in no particular order. Rows share memory with the fleet and must
// not be changed.
func (f *Fleet) Rows(selector labels.Selector) []v1.GpuNode {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var rows []v1.GpuNode
	for _, n := range f.nodes {
		if n.isGPU && selector.Matches(n.facts.Labels()) {
			rows = append(rows, n.row)
		}
	}
	if f.holdings == nil {
		return rows
	}
	return inventory.WithAllocated(rows, f.holdings.tally.Held(), f.holdings.read)
}

// HeldByNamespace returns what each namespace holds; false: not known.
func (f *Fleet) HeldByNamespace() (holders.Held, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.holdings == nil || !f.holdings.read.Pods {
		return nil, false
	}
	held := holders.Held{}
	for namespace, units := range f.holdings.tally.Namespaces() {
		held[namespace] = maps.Clone(units)
	}
	return held, true
}

// Labels returns a Node's labels; nil: there is no such Node.
func (f *Fleet) Labels(name string) map[string]string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if n := f.nodes[name]; n != nil {
		return n.facts.Labels().ToMap()
	}
	return nil
}

// Announce tells the listeners that any row may be different.
func (f *Fleet) Announce() { f.tell(Change{All: true}) }

// tell counts a new version, and passes on the changes that can alter an inventory. Call it without the lock.
func (f *Fleet) tell(changes ...Change) {
	f.version.Add(1)
	f.mu.RLock()
	listeners := f.listeners
	f.mu.RUnlock()
	for _, c := range changes {
		if c.none() {
			continue
		}
		for _, listener := range listeners {
			listener(c)
		}
	}
}
