package publish

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

func gpuNode(name string, labels map[string]string) *corev1.Node {
	units := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1", Labels: labels},
		Status:     corev1.NodeStatus{Capacity: units, Allocatable: units.DeepCopy()},
	}
}

func TestASnapshotIsComputedOnceForAChange(t *testing.T) {
	f := fleet.New(gpu.Options{}, false)
	p := &Publisher{Fleet: f}
	nodes := f.Nodes()
	set := func(n *corev1.Node) { nodes.Set(nodes.Reduce(n)) }
	all, none := labels.Everything(), labels.SelectorFromSet(labels.Set{"rack": "9"})
	set(gpuNode("a", map[string]string{"rack": "1"}))
	first := p.Inventory(all)
	if len(first.Nodes) != 1 || len(p.Inventory(none).Nodes) != 0 {
		t.Fatalf("%d and %d rows, want 1 and 0", len(first.Nodes), len(p.Inventory(none).Nodes))
	}
	if again := p.Inventory(all); &again.Nodes[0] != &first.Nodes[0] {
		t.Error("computed again without a change")
	}
	set(gpuNode("a", map[string]string{"rack": "1"})) // a heartbeat
	if again := p.Inventory(all); &again.Nodes[0] != &first.Nodes[0] {
		t.Error("computed again for a heartbeat")
	}
	set(gpuNode("b", map[string]string{"rack": "9"}))
	if after := p.Inventory(all); len(after.Nodes) != 2 || len(p.Inventory(none).Nodes) != 1 {
		t.Errorf("%d and %d rows after a change, want 2 and 1", len(after.Nodes), len(p.Inventory(none).Nodes))
	}
	if len(first.Nodes) != 1 {
		t.Error("an earlier snapshot has changed")
	}
}
