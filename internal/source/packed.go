package source

import (
	"maps"
	"slices"
	"strings"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
)

// evidence is all that is kept of a Node: what gpu.Read looks at, packed. A typed Node with the same content is several
// times as large, and there are thousands of them with nearly the same labels.
type evidence struct {
	name        string
	uid         types.UID
	created     metav1.Time
	deleted     *metav1.Time
	cordoned    bool
	labels      *labelset.Set
	annotations map[string]string
	capacity    []quantity
	allocatable []quantity
	conditions  []condition
}

// condition is a Node's condition without the time of the last heartbeat.
type condition struct {
	text  unique.Handle[conditionText]
	since int64 // of the last transition, in seconds as the API has it; 0: not known
}

type conditionText struct {
	kind            corev1.NodeConditionType
	status          corev1.ConditionStatus
	reason, message string
}

type quantity struct {
	name  string
	value resource.Quantity
}

// pack takes a Node apart. The Node may be changed and must not be used afterwards.
func (f *Fleet) pack(n *corev1.Node) *evidence {
	gpu.Reduce(n, f.options)
	return &evidence{
		name: n.Name, uid: n.UID, created: n.CreationTimestamp, deleted: n.DeletionTimestamp, cordoned: n.Spec.Unschedulable,
		labels: f.labels.Pack(n.Labels), annotations: n.Annotations,
		capacity: packResources(n.Status.Capacity), allocatable: packResources(n.Status.Allocatable),
		conditions: packConditions(n.Status.Conditions),
	}
}

// node puts a Node together again, for gpu.Read.
func (e *evidence) node() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: e.name, UID: e.uid, CreationTimestamp: e.created, DeletionTimestamp: e.deleted,
			Labels: e.labels.ToMap(), Annotations: e.annotations,
		},
		Spec: corev1.NodeSpec{Unschedulable: e.cordoned},
		Status: corev1.NodeStatus{
			Capacity: unpackResources(e.capacity), Allocatable: unpackResources(e.allocatable), Conditions: unpackConditions(e.conditions),
		},
	}
}

// equal reports whether two packed Nodes hold the same evidence, in which case there is nothing to read anew.
func (e *evidence) equal(o *evidence) bool {
	return e.name == o.name && e.uid == o.uid && e.cordoned == o.cordoned && e.deleted.Equal(o.deleted) &&
		e.labels.Equal(o.labels) && maps.Equal(e.annotations, o.annotations) &&
		equalResources(e.capacity, o.capacity) && equalResources(e.allocatable, o.allocatable) &&
		slices.Equal(e.conditions, o.conditions)
}

func packConditions(in []corev1.NodeCondition) []condition {
	out := make([]condition, 0, len(in))
	for _, c := range in {
		packed := condition{text: unique.Make(conditionText{c.Type, c.Status, c.Reason, c.Message})}
		if !c.LastTransitionTime.IsZero() {
			packed.since = c.LastTransitionTime.Unix()
		}
		out = append(out, packed)
	}
	return out
}

func unpackConditions(in []condition) []corev1.NodeCondition {
	out := make([]corev1.NodeCondition, 0, len(in))
	for _, c := range in {
		text := c.text.Value()
		full := corev1.NodeCondition{Type: text.kind, Status: text.status, Reason: text.reason, Message: text.message}
		if c.since != 0 {
			full.LastTransitionTime = metav1.Unix(c.since, 0)
		}
		out = append(out, full)
	}
	return out
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

func intern(s string) string { return unique.Make(s).Value() }
