package source

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// evidence is all that is kept of a Node: what gpu.Read looks at, packed. A typed Node with the same content is several
// times as large, and there are thousands of them with nearly the same labels.
type evidence struct {
	name        string
	uid         types.UID
	created     metav1.Time
	deleted     *metav1.Time
	cordoned    bool
	labels      packedLabels
	annotations map[string]string
	capacity    []quantity
	allocatable []quantity
	conditions  []corev1.NodeCondition
}

type quantity struct {
	name  string
	value resource.Quantity
}

// pack takes a Node apart. The Node may be changed and must not be used afterwards.
func pack(n *corev1.Node, opts gpu.Options) *evidence {
	gpu.Reduce(n, opts)
	e := &evidence{
		name: n.Name, uid: n.UID, created: n.CreationTimestamp, deleted: n.DeletionTimestamp, cordoned: n.Spec.Unschedulable,
		labels: packLabels(n.Labels), annotations: n.Annotations,
		capacity: packResources(n.Status.Capacity), allocatable: packResources(n.Status.Allocatable),
		conditions: slices.Clip(n.Status.Conditions),
	}
	for i := range e.conditions {
		c := &e.conditions[i]
		c.Type = corev1.NodeConditionType(intern(string(c.Type)))
		c.Reason, c.Message = intern(c.Reason), intern(c.Message)
	}
	return e
}

// node puts a Node together again, for gpu.Read.
func (e *evidence) node() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: e.name, UID: e.uid, CreationTimestamp: e.created, DeletionTimestamp: e.deleted,
			Labels: e.labels.toMap(), Annotations: e.annotations,
		},
		Spec: corev1.NodeSpec{Unschedulable: e.cordoned},
		Status: corev1.NodeStatus{
			Capacity: unpackResources(e.capacity), Allocatable: unpackResources(e.allocatable), Conditions: e.conditions,
		},
	}
}

// equal reports whether two packed Nodes hold the same evidence, in which case there is nothing to read anew.
func (e *evidence) equal(o *evidence) bool {
	return e.name == o.name && e.uid == o.uid && e.cordoned == o.cordoned && e.deleted.Equal(o.deleted) &&
		slices.Equal(e.labels, o.labels) && maps.Equal(e.annotations, o.annotations) &&
		equalResources(e.capacity, o.capacity) && equalResources(e.allocatable, o.allocatable) &&
		slices.EqualFunc(e.conditions, o.conditions, equalCondition)
}

func equalCondition(a, b corev1.NodeCondition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message &&
		a.LastTransitionTime.Equal(&b.LastTransitionTime)
}

// packResources keeps the difference between no list and an empty one, which mean different things.
func packResources(in corev1.ResourceList) []quantity {
	if in == nil {
		return nil
	}
	out := make([]quantity, 0, len(in))
	for name, value := range in {
		out = append(out, quantity{intern(string(name)), value})
	}
	slices.SortFunc(out, func(a, b quantity) int { return strings.Compare(a.name, b.name) })
	return out
}

func unpackResources(in []quantity) corev1.ResourceList {
	if in == nil {
		return nil
	}
	out := make(corev1.ResourceList, len(in))
	for _, q := range in {
		out[corev1.ResourceName(q.name)] = q.value
	}
	return out
}

func equalResources(a, b []quantity) bool {
	return (a == nil) == (b == nil) && slices.EqualFunc(a, b, func(x, y quantity) bool {
		return x.name == y.name && x.value.String() == y.value.String()
	})
}

// packedLabels are labels sorted by key, with each string shared by all Nodes that have it. They are a labels.Labels.
type packedLabels []packedLabel

type packedLabel struct{ key, value unique.Handle[string] }

func packLabels(in map[string]string) packedLabels {
	out := make(packedLabels, 0, len(in))
	for k, v := range in {
		out = append(out, packedLabel{unique.Make(k), unique.Make(v)})
	}
	slices.SortFunc(out, func(a, b packedLabel) int { return cmp.Compare(a.key.Value(), b.key.Value()) })
	return out
}

func (l packedLabels) toMap() map[string]string {
	out := make(map[string]string, len(l))
	for _, p := range l {
		out[p.key.Value()] = p.value.Value()
	}
	return out
}

// Has implements labels.Labels.
func (l packedLabels) Has(key string) bool {
	_, ok := l.Lookup(key)
	return ok
}

// Get implements labels.Labels.
func (l packedLabels) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}

// Lookup implements labels.Labels.
func (l packedLabels) Lookup(key string) (string, bool) {
	i, ok := slices.BinarySearchFunc(l, key, func(p packedLabel, key string) int { return cmp.Compare(p.key.Value(), key) })
	if !ok {
		return "", false
	}
	return l[i].value.Value(), true
}

func intern(s string) string { return unique.Make(s).Value() }
