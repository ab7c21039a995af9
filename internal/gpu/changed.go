package gpu

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/quantity"
)

// Changed reports whether an update of a Node can change its row. Heartbeats, gfd.timestamp and everything else that Read
// does not look at change nothing. A caller that selects Nodes by label must watch labels itself.
func Changed(before, after *corev1.Node, opts Options) bool {
	if same(before, after) {
		return false
	}
	b, bok := Read(Input{Node: before}, opts)
	a, aok := Read(Input{Node: after}, opts)
	return bok != aok || !reflect.DeepEqual(b.Row, a.Row)
}

// same reports, much cheaper than Read, that two versions of a Node hold the same evidence.
func same(a, b *corev1.Node) bool {
	return a.Name == b.Name &&
		a.Spec.Unschedulable == b.Spec.Unschedulable &&
		a.DeletionTimestamp.Equal(b.DeletionTimestamp) &&
		maps.Equal(a.Labels, b.Labels) &&
		maps.Equal(a.Annotations, b.Annotations) &&
		sameQuantities(a.Status.Capacity, b.Status.Capacity) &&
		sameQuantities(a.Status.Allocatable, b.Status.Allocatable) &&
		slices.EqualFunc(a.Status.Conditions, b.Status.Conditions, sameCondition)
}

func sameQuantities(a, b corev1.ResourceList) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for name, q := range a {
		other, ok := b[name]
		if !ok {
			return false
		}
		// Read looks at whole units, and so does this; comparing quantities themselves can take long.
		m, mok := quantity.Units(q)
		n, nok := quantity.Units(other)
		if m != n || mok != nok {
			return false
		}
	}
	return true
}

// sameCondition compares everything but the heartbeat.
func sameCondition(a, b corev1.NodeCondition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message &&
		a.LastTransitionTime.Equal(&b.LastTransitionTime)
}
