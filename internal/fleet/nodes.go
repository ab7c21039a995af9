package fleet

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/memory"
)

// node is one Node: its facts, and the row that they give.
type node struct {
	facts *gpu.Facts
	row   v1.GpuNode
	isGPU bool
}

// Nodes returns the keeper of Nodes. A Node whose facts are the same as before, as after a heartbeat, is not read again.
func (f *Fleet) Nodes() Keeper[*corev1.Node, gpu.Facts] {
	return Keeper[*corev1.Node, gpu.Facts]{Reduce: f.factsOf, Set: f.setNode, Remove: f.removeNode, Replace: f.replaceNodes}
}

func (f *Fleet) factsOf(n *corev1.Node) *gpu.Facts { return gpu.FactsOf(n, f.options, &f.labels) }

func (f *Fleet) setNode(facts *gpu.Facts) {
	f.mu.Lock()
	before := f.nodes[facts.Name()]
	if before != nil && before.facts.Equal(facts) {
		f.mu.Unlock()
		return
	}
	after := f.read(facts)
	f.nodes[facts.Name()] = after
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

func (f *Fleet) replaceNodes(list []*gpu.Facts) {
	f.mu.Lock()
	gone := f.nodes
	f.nodes = make(map[string]*node, len(list))
	var changes []Change
	for _, facts := range list {
		before := gone[facts.Name()]
		delete(gone, facts.Name())
		if before != nil && before.facts.Equal(facts) {
			f.nodes[facts.Name()] = before
			continue
		}
		after := f.read(facts)
		f.nodes[facts.Name()] = after
		changes = append(changes, changeOf(before, after))
	}
	for name, before := range gone {
		f.memory.Forget(name)
		changes = append(changes, changeOf(before, nil))
	}
	f.mu.Unlock()
	f.tell(changes...)
}

// read returns what a Node says, completed by what is remembered of it. The lock must be held.
func (f *Fleet) read(facts *gpu.Facts) *node {
	reading, ok := gpu.Read(facts, f.devices[facts.Name()], f.options)
	id := memory.Node{Name: facts.Name(), UID: facts.UID(), Created: facts.Created(), Hardware: gpu.HardwareOf(facts.Labels())}
	row, ok := f.memory.Recall(id, reading.Row, ok, f.now())
	return &node{facts: facts, row: row, isGPU: ok}
}

// Remember fills the memory from stored statuses, and reads all Nodes again with it.
func (f *Fleet) Remember(stored []v1.GpuInventory) {
	f.mu.Lock()
	for i := range stored {
		f.memory.Seed(&stored[i].Status)
	}
	for name, before := range f.nodes {
		f.nodes[name] = f.read(before.facts)
	}
	f.mu.Unlock()
	f.Announce()
}
