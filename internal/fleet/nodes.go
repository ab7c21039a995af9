package fleet

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/memory"
)

// node is one Node: its facts, and the row that they give.
type node struct {
	*evidence
	row   v1.GpuNode
	isGPU bool
}

// Nodes returns the keeper of Nodes. A Node whose facts are the same as before, as after a heartbeat, is not read again.
func (f *Fleet) Nodes() Keeper[*corev1.Node, Facts] {
	return Keeper[*corev1.Node, Facts]{Reduce: f.pack, Set: f.setNode, Remove: f.removeNode, Replace: f.replaceNodes}
}

func (f *Fleet) setNode(facts *evidence) {
	f.mu.Lock()
	before := f.nodes[facts.name]
	if before != nil && before.equal(facts) {
		f.mu.Unlock()
		return
	}
	after := f.read(facts)
	f.nodes[facts.name] = after
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

func (f *Fleet) replaceNodes(list []*evidence) {
	f.mu.Lock()
	gone := f.nodes
	f.nodes = make(map[string]*node, len(list))
	var changes []Change
	for _, facts := range list {
		before := gone[facts.name]
		delete(gone, facts.name)
		if before != nil && before.equal(facts) {
			f.nodes[facts.name] = before
			continue
		}
		after := f.read(facts)
		f.nodes[facts.name] = after
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
func (f *Fleet) read(facts *evidence) *node {
	full := facts.node()
	reading, ok := gpu.Read(gpu.Input{Node: full, Devices: f.devices[facts.name]}, f.options)
	id := memory.Node{Name: facts.name, UID: facts.uid, Created: facts.created.Time, Hardware: gpu.HardwareOf(full.Labels)}
	row, ok := f.memory.Recall(id, reading.Row, ok, f.now())
	return &node{evidence: facts, row: row, isGPU: ok}
}

// Remember fills the memory from stored statuses, and reads all Nodes again with it.
func (f *Fleet) Remember(stored []v1.GpuInventory) {
	f.mu.Lock()
	for i := range stored {
		f.memory.Seed(&stored[i].Status)
	}
	for name, before := range f.nodes {
		f.nodes[name] = f.read(before.evidence)
	}
	f.mu.Unlock()
	f.Announce()
}
