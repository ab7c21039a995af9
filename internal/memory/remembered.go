package memory

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// remembered is what is remembered of one Node.
type remembered struct {
	uid     types.UID // empty: it comes from a status, which has none
	created time.Time
	asOf    time.Time // when the status that it comes from was written; zero: this process has read the Node itself

	groups        []group
	beforeDispute []group // the groups before units and labels began to disagree; nil: they agree
	sharing       v1.Sharing
	mode          v1.WorkloadMode
	units         []v1.NodeResource // as they were when they last stood for all GPUs
	mixed         bool              // labels name one of several products
	most          most
	onBus         bool // node feature discovery has seen a GPU

	last *recalled // nil: nothing has been read yet
}

// group is what is remembered of the GPUs of one vendor and product. Its source is what it was read from.
type group struct {
	v1.GpuGroup
	live   bool      // it is being read, or was when the status was written
	seeded bool      // it comes from a status
	seen   time.Time // when it was last read, as far as is known
}

// recalled is the last reading and the row that was made of it. An equal reading gives an equal row, although the first one
// has changed what is remembered.
type recalled struct {
	reading v1.GpuNode
	row     *v1.GpuNode // nil: equal to the reading, as most rows are
}

// identify records which Node has been read.
func (m *remembered) identify(n Node) {
	m.uid, m.created, m.asOf = n.UID, n.Created, time.Time{}
	m.onBus = m.onBus || n.Hardware == gpu.HardwareSeen
}

// recall completes a reading and remembers it.
func (m *remembered) recall(reading v1.GpuNode, isGPU bool, now time.Time) v1.GpuNode {
	switch last := m.last; {
	case last == nil || !reflect.DeepEqual(last.reading, reading):
	case last.row == nil:
		return reading
	default:
		return *last.row
	}
	r := recollection{remembered: m, row: reading, isGPU: isGPU, now: now.UTC().Truncate(time.Second)}
	row := r.complete()
	m.last = &recalled{reading: reading}
	if !reflect.DeepEqual(reading, row) {
		m.last.row = new(row) // a copy: the address of row itself would cost every reading an allocation
	}
	return row
}

// isObsolete reports whether the Node is not the one that is remembered, or its GPUs have gone from the bus.
func (m *remembered) isObsolete(n Node, isGPU bool) bool {
	return m.isOther(n) || !isGPU && m.onBus && n.Hardware == gpu.HardwareAbsent
}

// isOther reports whether the Node is not the one that is remembered. Clocks differ, so times count only where there is no
// UID to compare.
func (m *remembered) isOther(n Node) bool {
	if m.uid != "" && n.UID != "" {
		return m.uid != n.UID
	}
	return m.lastSeen().Before(n.Created)
}

// lastSeen returns when any of the GPUs was last read.
func (m *remembered) lastSeen() (t time.Time) {
	for _, g := range m.groups {
		if g.seen.After(t) {
			t = g.seen
		}
	}
	return t
}

// firstLost returns the time of the group that has been last-known for longest; nil: all are read.
func (m *remembered) firstLost() *metav1.Time {
	var t *metav1.Time
	for _, g := range m.groups {
		if !g.live && (t == nil || g.seen.Before(t.Time)) {
			t = new(metav1.NewTime(g.seen))
		}
	}
	return t
}
