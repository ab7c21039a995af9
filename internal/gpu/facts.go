package gpu

import (
	"slices"
	"strings"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/quantity"
)

// Facts is what is kept of a Node: everything that Read looks at and nothing else, in a small part of the Node's memory. It
// never changes.
type Facts struct {
	name        string
	uid         types.UID
	created     int64 // in seconds, as the API has it
	deleted     *metav1.Time
	labels      *labelset.Set
	annotations []pair   // sorted by key
	capacity    []amount // sorted by name; nil: the Node has no such list
	allocatable []amount // likewise
	conditions  []nodeCondition
	cordoned    bool
}

type pair struct{ key, value string }

// amount is how much of a resource a Node has.
type amount struct {
	name  string
	units int64 // whole units; -1: less than 0; maxUnits+1: more than maxUnits
}

// nodeCondition is a condition of a Node without the time of the last heartbeat. Nodes share the text.
type nodeCondition struct {
	text  unique.Handle[conditionText]
	since int64 // of the last transition, in seconds, as the API has it
}

type conditionText struct {
	kind            corev1.NodeConditionType
	status          corev1.ConditionStatus
	reason, message string
}

// FactsOf returns the facts of a Node: its identity, the times of its creation and deletion, all labels (selectors need
// them), whether it is cordoned, and the annotations, resources and conditions that Read knows. Labels are packed by packer;
// with nil they share nothing with those of other Nodes. The Node is not changed.
func FactsOf(n *corev1.Node, opts Options, packer *labelset.Packer) *Facts {
	return &Facts{
		name: n.Name, uid: n.UID, created: n.CreationTimestamp.Unix(), deleted: n.DeletionTimestamp.DeepCopy(),
		cordoned: n.Spec.Unschedulable, labels: packer.Pack(n.Labels), annotations: annotationsOf(n.Annotations),
		capacity: amountsOf(n.Status.Capacity, opts), allocatable: amountsOf(n.Status.Allocatable, opts),
		conditions: conditionsOf(n.Status.Conditions),
	}
}

// Name returns the Node's name.
func (f *Facts) Name() string { return f.name }

// UID returns the Node's UID.
func (f *Facts) UID() types.UID { return f.uid }

// Created returns when the Node was created.
func (f *Facts) Created() time.Time { return time.Unix(f.created, 0) }

// Labels returns the Node's labels.
func (f *Facts) Labels() *labelset.Set { return f.labels }

// unschedulable reports whether no pod can be scheduled to the node.
func (f *Facts) unschedulable() bool { return f.cordoned || f.deleted != nil }

// Equal reports whether two Nodes have the same facts. If they have, Read gives the same reading for both.
func (f *Facts) Equal(o *Facts) bool {
	return f.name == o.name && f.uid == o.uid && f.created == o.created && f.deleted.Equal(o.deleted) &&
		f.cordoned == o.cordoned && f.labels.Equal(o.labels) && slices.Equal(f.annotations, o.annotations) &&
		equalAmounts(f.capacity, o.capacity) && equalAmounts(f.allocatable, o.allocatable) &&
		slices.Equal(f.conditions, o.conditions)
}

func equalAmounts(a, b []amount) bool {
	return (a == nil) == (b == nil) && slices.Equal(a, b)
}

func annotationsOf(in map[string]string) []pair {
	var out []pair
	for key, value := range in {
		if ReadsAnnotation(key) {
			out = append(out, pair{key, value})
		}
	}
	slices.SortFunc(out, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	return out
}

// ReadsAnnotation reports whether Read looks at an annotation.
func ReadsAnnotation(key string) bool {
	return key == annotationKWOK || key == annotationHandshake || isHAMiAnnotation(key)
}

// annotation returns the value of an annotation, or an empty text if the Node does not have it.
func (f *Facts) annotation(key string) string {
	for _, a := range f.annotations {
		if a.key == key {
			return a.value
		}
	}
	return ""
}

// amountsOf keeps the names that can be GPUs. The result is nil only if the list is: a missing list means something else than
// an empty one.
func amountsOf(in corev1.ResourceList, opts Options) []amount {
	if in == nil {
		return nil
	}
	var buffer [16]amount // so that the list is allocated once
	out := buffer[:0]
	for name, quantity := range in {
		_, ok := Classify(string(name), opts)
		if ok && strings.Contains(string(name), "/") {
			out = append(out, amountOf(string(name), quantity))
		}
	}
	slices.SortFunc(out, func(a, b amount) int { return strings.Compare(a.name, b.name) })
	return append([]amount{}, out...)
}

func amountOf(name string, q resource.Quantity) amount {
	n, ok := quantity.Units(q)
	switch {
	case !ok && n == 0:
		n = -1
	case !ok:
		n++
	}
	return amount{unique.Make(name).Value(), n}
}

// believed bounds the units of an amount to what is believed, from 0 to maxUnits. It returns false if they were outside.
func believed(units int64) (n int64, ok bool) {
	n = min(max(units, 0), maxUnits)
	return n, n == units
}

// find returns the units of a resource in a list, and whether the list has it.
func find(in []amount, name string) (units int64, ok bool) {
	i, ok := slices.BinarySearchFunc(in, name, func(a amount, name string) int { return strings.Compare(a.name, name) })
	if !ok {
		return 0, false
	}
	return in[i].units, true
}

func conditionsOf(in []corev1.NodeCondition) []nodeCondition {
	var buffer [16]nodeCondition // so that the list is allocated once
	out := buffer[:0]
	for i := range in {
		if c := &in[i]; readsCondition(c.Type) {
			text := unique.Make(conditionText{c.Type, c.Status, c.Reason, c.Message})
			out = append(out, nodeCondition{text, c.LastTransitionTime.Unix()})
		}
	}
	return append([]nodeCondition(nil), out...)
}

func readsCondition(t corev1.NodeConditionType) bool {
	_, health := healthConditions[t]
	_, pressure := pressures[t]
	return health || pressure || t == corev1.NodeReady
}
