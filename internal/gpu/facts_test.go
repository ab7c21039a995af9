package gpu

import (
	"maps"
	"reflect"
	"testing"
	"unique"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
)

// TestEqualFactsAreReadAlike compares every known Node with the Nodes that lack a piece of it.
func TestEqualFactsAreReadAlike(t *testing.T) {
	equal := 0
	for _, c := range loadCorpus(t) {
		facts := FactsOf(c.node, Options{}, nil)
		want, wantOK := Read(facts, c.devices(), Options{})
		for name, n := range variations(c.node) {
			varied := FactsOf(n, Options{}, nil)
			got, ok := Read(varied, c.devices(), Options{})
			same := ok == wantOK && cmp.Equal(want, got)
			if facts.Equal(varied) != varied.Equal(facts) {
				t.Errorf("%s %s: Equal() depends on which comes first", c.name, name)
			}
			if facts.Equal(varied) {
				equal++
				if !same {
					t.Errorf("%s %s: equal facts are read differently (-want +got):\n%s", c.name, name, cmp.Diff(want, got))
				}
			}
		}
	}
	if equal < 100 {
		t.Errorf("%d variations have the facts of what they vary, want the many that lack CPUs or memory", equal)
	}
}

func TestFactsLeaveOutWhatReadDoesNotLookAt(t *testing.T) {
	for _, c := range loadCorpus(t) {
		for name, n := range variations(c.node) {
			noisy := n.DeepCopy()
			noisy.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
			noisy.ResourceVersion, noisy.Spec.ProviderID = "7", "p"
			noisy.Annotations = maps.Collect(maps.All(n.Annotations))
			noisy.Annotations["volumes.kubernetes.io/controller-managed-attach-detach"] = "true"
			noisy.Status.Images = []corev1.ContainerImage{{Names: []string{"i"}}}
			noisy.Status.Conditions = append(noisy.Status.Conditions, corev1.NodeCondition{Type: "KernelDeadlock", Status: corev1.ConditionFalse})
			if noisy.Status.Capacity != nil {
				noisy.Status.Capacity["pods"] = resource.MustParse("110")
			}
			if !FactsOf(n, Options{}, nil).Equal(FactsOf(noisy, Options{}, nil)) {
				t.Errorf("%s %s: the facts are not the same with what nobody looks at", c.name, name)
			}
		}
	}
}

func TestFactsHaveIdentityAndLabels(t *testing.T) {
	n := node(h100s, labels("topology.kubernetes.io/zone=a"), annotation("example.com/big", "x"), annotation(annotationKWOK, "fake"))
	n.UID, n.ResourceVersion, n.CreationTimestamp, n.DeletionTimestamp = "u", "7", transition, &transition
	n.Spec.Unschedulable, n.Spec.ProviderID = true, "p"
	condition("KernelDeadlock", corev1.ConditionFalse, "", "")(n)
	n.Status.Conditions[0].LastHeartbeatTime = transition
	before := n.DeepCopy()

	got := FactsOf(n, Options{}, nil)
	want := &Facts{
		name: "n", uid: "u", created: transition.Unix(), deleted: &transition, cordoned: true,
		labels: labelset.Of(n.Labels), annotations: []pair{{annotationKWOK, "fake"}},
		capacity: []amount{{"nvidia.com/gpu", 8}}, allocatable: []amount{{"nvidia.com/gpu", 8}},
		conditions: []nodeCondition{{
			unique.Make(conditionText{corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"}),
			transition.Unix(),
		}},
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("FactsOf() = %+v, want %+v", got, want)
	}
	if got.Name() != "n" || got.UID() != "u" || !got.Created().Equal(transition.Time) || !got.Labels().Equal(labelset.Of(n.Labels)) {
		t.Errorf("identity is %s %s %s %v", got.Name(), got.UID(), got.Created(), got.Labels().ToMap())
	}
	if diff := cmp.Diff(before, n); diff != "" {
		t.Errorf("FactsOf() changed the Node (-before +after):\n%s", diff)
	}
	if created := FactsOf(node(), Options{}, nil).Created(); !created.IsZero() {
		t.Errorf("a Node without a time of creation was created at %s", created)
	}
}

// TestFactsDifferInEachField holds Equal against the fields of Facts: none may be forgotten.
func TestFactsDifferInEachField(t *testing.T) {
	empty := func(n *corev1.Node) {
		n.Status.Capacity, n.Status.Allocatable = corev1.ResourceList{}, corev1.ResourceList{}
	}
	changes := map[string]mod{
		"name":        func(n *corev1.Node) { n.Name = "other" },
		"uid":         func(n *corev1.Node) { n.UID = "other" },
		"created":     func(n *corev1.Node) { n.CreationTimestamp = transition },
		"deleted":     func(n *corev1.Node) { n.DeletionTimestamp = &transition },
		"labels":      labels("topology.kubernetes.io/zone=b"),
		"annotations": annotation(annotationKWOK, "fake"),
		"capacity":    func(n *corev1.Node) { n.Status.Capacity = nil },
		"allocatable": func(n *corev1.Node) { n.Status.Allocatable = nil },
		"conditions":  func(n *corev1.Node) { n.Status.Conditions[0].LastTransitionTime = metav1.Time{} },
		"cordoned":    func(n *corev1.Node) { n.Spec.Unschedulable = true },
	}
	for f := range reflect.TypeFor[Facts]().Fields() {
		field := f.Name
		change, ok := changes[field]
		if !ok {
			t.Errorf("no change of %s", field)
			continue
		}
		before, after := FactsOf(node(empty), Options{}, nil), FactsOf(node(empty, change), Options{}, nil)
		if before.Equal(after) || after.Equal(before) {
			t.Errorf("facts are equal, and %s differs", field)
		}
	}
	if a, b := FactsOf(node(h100s), Options{}, nil), FactsOf(node(h100s), Options{}, nil); !a.Equal(b) {
		t.Error("two Facts of one Node differ")
	}
}
