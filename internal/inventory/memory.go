package inventory

import (
	"reflect"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// Memory keeps what was last read of the GPUs of each Node, and gives it back while it cannot be read. Labels vanish for a
// minute when feature discovery restarts, ResourceSlices when a kubelet does, capacities when a plugin does, and all of them
// for good when their writer is removed: none of that takes a GPU out of its machine.
//
// A Node is forgotten when it goes, when another Node has its name, and after positive evidence that it has no GPU: node
// feature discovery saw one on the bus, and now runs there and sees none.
//
// The zero Memory is empty and ready to use. It is safe for concurrent use. It must not be copied.
type Memory struct {
	mu    sync.Mutex
	nodes map[string]*known
}

// NodeIdentity tells one Node from another of the same name, and what is known of its hardware whatever else it says.
type NodeIdentity struct {
	// Name is the Node's name.
	Name string
	// UID is the Node's UID. Empty: not known.
	UID types.UID
	// Created is the Node's time of creation. Zero: not known.
	Created time.Time
	// Hardware is what node feature discovery says, as gpu.HardwareOf reads it.
	Hardware gpu.Hardware
}

// known is what is remembered of one Node.
type known struct {
	uid     types.UID // empty: it comes from a status, which has none
	created time.Time
	asOf    time.Time // when the status that it comes from was written; zero: this process has read the Node itself

	facts   []fact
	settled []fact // what was known before units and labels began to disagree; nil: they agree
	sharing v1.Sharing
	mode    v1.WorkloadMode
	units   []v1.NodeResource // when they last stood for all GPUs
	mixed   bool              // labels name one of several products
	most    most
	onBus   bool // node feature discovery has seen a GPU

	last *recalled // nil: nothing has been read yet
}

// recalled is a reading and what it became. It makes equal readings give equal rows, whatever was learned from the first.
type recalled struct {
	row v1.GpuNode
	out *v1.GpuNode // nil: the row as it was
}

func (r *recalled) became() v1.GpuNode {
	if r.out == nil {
		return r.row
	}
	return *r.out
}

// fact is what is remembered of the GPUs of one vendor and product. Its source is what it was read from.
type fact struct {
	v1.GpuGroup
	live   bool      // it is being read, or was when the status was written
	seeded bool      // it comes from a status
	seen   time.Time // when it was last read, as far as is known
}

// Seed remembers what an earlier process wrote. Facts that it read live were seen when that status last changed, its
// last-known ones at their lastSeen. Of several statuses the newest wins, and over any status what this process itself has
// read of all of a Node's GPUs. Seed before the rows are computed, or compute them anew: once for each process will do.
func (m *Memory) Seed(stored *v1.GpuInventoryStatus) {
	if stored == nil || stored.ObservedAt == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range stored.Nodes {
		row := &stored.Nodes[i]
		k := knownFrom(row, stored.ObservedAt.Time)
		if len(k.facts) > 0 && k.outranks(m.nodes[row.Name]) {
			m.put(row.Name, k)
		}
	}
}

// Recall completes a reading by what is remembered of the Node, and remembers the reading. row and isGPU are what the Node
// says now; without any evidence of GPUs the row has the Node's name, whether it is ready, and why not. now is when.
//
// Facts that were known and are gone come back, marked with the source lastKnown and the time at which they went. That time
// stays until they have been read again: equal readings give equal rows whatever now is. The result is false for a Node that
// neither shows nor is known to have had a GPU. Rows share memory with the arguments, which stay as they are.
func (m *Memory) Recall(n NodeIdentity, row v1.GpuNode, isGPU bool, now time.Time) (v1.GpuNode, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(n, isGPU)
	if k == nil && !isGPU {
		return row, false
	}
	if k == nil {
		k = &known{}
	}
	k.uid, k.created, k.asOf = n.UID, n.Created, time.Time{}
	k.onBus = k.onBus || n.Hardware == gpu.HardwareSeen
	if k.last != nil && reflect.DeepEqual(k.last.row, row) {
		return k.last.became(), true
	}
	r := recollection{known: k, row: row, isGPU: isGPU, now: now.UTC().Truncate(time.Second)}
	out := r.complete()
	bound(&out)
	k.last = &recalled{row: row}
	if !reflect.DeepEqual(row, out) {
		k.last.out = new(out) // not &out: most readings need no row of their own
	}
	if len(k.facts) > 0 {
		m.put(n.Name, k)
	} else {
		delete(m.nodes, n.Name)
	}
	return out, true
}

// of is what is remembered of a Node. What is remembered of another Node of its name, or of GPUs that have gone from the bus,
// is dropped.
func (m *Memory) of(n NodeIdentity, isGPU bool) *known {
	k := m.nodes[n.Name]
	if k != nil && (k.another(n) || !isGPU && k.onBus && n.Hardware == gpu.HardwareAbsent) {
		delete(m.nodes, n.Name)
		return nil
	}
	return k
}

// Forget drops what is remembered of a Node that has gone.
func (m *Memory) Forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.nodes, name)
}

func (m *Memory) put(name string, k *known) {
	if m.nodes == nil {
		m.nodes = map[string]*known{}
	}
	m.nodes[name] = k
}

// knownFrom is what a stored row says, without facts when there are none worth remembering.
func knownFrom(row *v1.GpuNode, at time.Time) *known {
	k := &known{
		asOf: at, sharing: row.Sharing, mode: row.WorkloadMode,
		units: ownUnits(row.Resources), mixed: slices.Contains(row.Warnings, v1.WarningMixedProducts),
	}
	registered := row.Reason == v1.ReasonNoAllocatableGpu
	for _, g := range row.Gpus {
		f := fact{GpuGroup: g, live: g.Source != v1.SourceLastKnown, seeded: true, seen: at}
		if !f.live && row.LastSeen != nil {
			f.seen = row.LastSeen.Time
		}
		if disputed(row) {
			f.Source = v1.SourceResources // its count may be one of units
		}
		if says(g) || registered || !f.live || divided(row.Sharing) {
			k.facts = append(k.facts, f)
		}
	}
	if measured(row) {
		k.most = most{*row.GpuCount, onlyUnits(row.Gpus), row.Sharing}
	}
	if earlier, ok := earlierCount(row.Message); ok && earlier > k.most.gpus {
		k.most = most{gpus: earlier, sharing: row.Sharing}
	}
	return k
}

// ownUnits are the units that a node has. A stored row may also list units that are held of a resource that the node no
// longer has.
func ownUnits(resources []v1.NodeResource) []v1.NodeResource {
	return slices.DeleteFunc(slices.Clone(resources), func(r v1.NodeResource) bool { return r.Capacity == 0 && r.Allocatable == 0 })
}

// outranks reports whether a seed is to take the place of what is remembered.
func (k *known) outranks(old *known) bool {
	switch {
	case old == nil:
		return true
	case !old.asOf.IsZero():
		return k.asOf.After(old.asOf)
	case k.lastSeen().Before(old.created):
		return false // it speaks of another Node
	default:
		return !old.whole()
	}
}

// whole reports whether product and count of all GPUs are known.
func (k *known) whole() bool {
	return !slices.ContainsFunc(k.facts, func(f fact) bool { return f.Product == "" || f.Count == nil })
}

// another reports whether the Node is not the one that is remembered. Clocks differ, so times count only where no UID can
// tell.
func (k *known) another(n NodeIdentity) bool {
	if k.uid != "" && n.UID != "" {
		return k.uid != n.UID
	}
	return k.lastSeen().Before(n.Created)
}

// lastSeen is when anything was last read of the GPUs.
func (k *known) lastSeen() (t time.Time) {
	for _, f := range k.facts {
		if f.seen.After(t) {
			t = f.seen
		}
	}
	return t
}

// firstLost is the time of the oldest of the facts that are no longer read. Nil: all are read.
func (k *known) firstLost() *metav1.Time {
	var t *metav1.Time
	for _, f := range k.facts {
		if !f.live && (t == nil || f.seen.Before(t.Time)) {
			t = new(metav1.NewTime(f.seen))
		}
	}
	return t
}

// says reports whether a group says more than that there is a GPU.
func says(g v1.GpuGroup) bool {
	return g.Product != "" || g.Variant != "" || g.Count != nil || g.MemoryMiB != nil || g.MemoryPerUnitMiB != nil
}
