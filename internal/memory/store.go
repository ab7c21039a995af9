package memory

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// Store keeps what was last read of the GPUs of each Node, and returns it while it cannot be read. Labels vanish for a minute
// when feature discovery restarts, ResourceSlices when a kubelet does, capacities when a plugin does, and all of them for good
// when their writer is removed. None of that takes a GPU out of its machine.
//
// A Node is forgotten when it goes, when another Node has its name, and when there is positive evidence that its GPUs have
// gone: node feature discovery saw one on the bus, still runs there and sees none.
//
// The zero Store is empty and ready to use. It is safe for concurrent use. It must not be copied.
type Store struct {
	mu    sync.Mutex
	nodes map[string]*remembered
}

// Node is the Node that a reading is of: what distinguishes it from another of the same name, and the state of its hardware.
type Node struct {
	// Name is the Node's name.
	Name string
	// UID is the Node's UID. Empty: not known.
	UID types.UID
	// Created is the Node's time of creation. Zero: not known.
	Created time.Time
	// Hardware is what node feature discovery says about GPUs on the Node's bus.
	Hardware gpu.Hardware
}

// Seed remembers what an earlier process wrote. What that process read live was seen when the status last changed, what it
// already remembered was seen at the row's lastSeen. The newest of several statuses wins. What this process has read itself
// wins over any status, unless a product or a count is missing from it. Seed before rows are computed, or compute them anew.
func (s *Store) Seed(stored *v1.GpuInventoryStatus) {
	if stored == nil || stored.ObservedAt == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range stored.Nodes {
		row := &stored.Nodes[i]
		if m := fromRow(row, stored.ObservedAt.Time); len(m.groups) > 0 && m.outranks(s.nodes[row.Name]) {
			s.put(row.Name, m)
		}
	}
}

// Recall completes a reading by what is remembered of the Node, and remembers the reading. row and isGPU are the reading;
// without any evidence of GPUs the row has only the Node's name, whether it is ready, and why not. now is the time of it.
//
// What was read earlier and is gone comes back, marked with the source lastKnown and the time at which it went. That time
// stays until it is read again: equal readings give equal rows, whatever now is. The result is false for a Node that does not
// show a GPU and is not remembered to have had one. Rows share memory with the arguments, which stay as they are.
func (s *Store) Recall(n Node, row v1.GpuNode, isGPU bool, now time.Time) (v1.GpuNode, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.nodes[n.Name]
	if m != nil && m.isObsolete(n, isGPU) {
		delete(s.nodes, n.Name)
		m = nil
	}
	if m == nil {
		if !isGPU {
			return row, false
		}
		m = &remembered{}
	}
	m.identify(n)
	out := m.recall(row, isGPU, now)
	if len(m.groups) > 0 {
		s.put(n.Name, m)
	} else {
		delete(s.nodes, n.Name)
	}
	return out, true
}

// Forget drops what is remembered of a Node that has gone.
func (s *Store) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.nodes, name)
}

func (s *Store) put(name string, m *remembered) {
	if s.nodes == nil {
		s.nodes = map[string]*remembered{}
	}
	s.nodes[name] = m
}
