package inventory

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// withoutAction leaves a change's action to a test of its own.
var withoutAction = cmpopts.IgnoreFields(Change{}, "Action")

func TestDifferentNewsHaveDifferentActions(t *testing.T) {
	change := func(before, after v1.GpuNode) Change {
		b, a := Snapshot([]v1.GpuNode{before}), Snapshot([]v1.GpuNode{after})
		changes := Changes(&b, &a)
		if len(changes) != 1 {
			t.Fatalf("%d changes, want 1", len(changes))
		}
		return changes[0]
	}
	seen := map[string]bool{}
	for _, c := range []Change{
		change(row("a", 8), row("a", 7)), change(row("a", 7), row("a", 5)),
		change(row("a", 8), row("a", 8, notReady(v1.ReasonNodeNotReady))), change(row("a", 8), row("a", 8, notReady(v1.ReasonMIGInvalid))),
	} {
		key := c.Reason + " " + c.Action
		if seen[key] || c.Action == "" {
			t.Errorf("%q is the key of different news", key)
		}
		seen[key] = true
	}
}

func TestChanges(t *testing.T) {
	because := func(message string) func(*v1.GpuNode) {
		return func(n *v1.GpuNode) { n.Message = message }
	}
	cases := map[string]struct {
		before, after []v1.GpuNode
		want          []Change
	}{
		"nothing changed": {
			before: []v1.GpuNode{row("a", 8)}, after: []v1.GpuNode{row("a", 8)},
		},
		"a message alone is no news": {
			before: []v1.GpuNode{row("a", 8, notReady(v1.ReasonNodeNotReady), because("x"))},
			after:  []v1.GpuNode{row("a", 8, notReady(v1.ReasonNodeNotReady), because("y"))},
		},
		"a node comes and is not ready": {
			after: []v1.GpuNode{row("a", 8, notReady(v1.ReasonNodeStatusUnknown), because("kubelet silent"))},
			want: []Change{
				{Type: "Normal", Reason: "GpuNodeAdded", Node: "a", Message: "a: 8 x nvidia NVIDIA-H100-80GB-HBM3"},
				{Type: "Warning", Reason: "GpuNodeNotReady", Node: "a", Message: "a is not ready: NodeStatusUnknown: kubelet silent"},
			},
		},
		"a node goes": {
			before: []v1.GpuNode{row("a", 8, unlabelled)},
			want:   []Change{{Type: "Normal", Reason: "GpuNodeRemoved", Node: "a", Message: "a: unknown number of nvidia GPUs of unknown product"}},
		},
		"a node fails": {
			before: []v1.GpuNode{row("a", 8)}, after: []v1.GpuNode{row("a", 8, notReady(v1.ReasonNodeNotReady))},
			want: []Change{{Type: "Warning", Reason: "GpuNodeNotReady", Node: "a", Message: "a is not ready: NodeNotReady"}},
		},
		"a node fails otherwise": {
			before: []v1.GpuNode{row("a", 8, notReady(v1.ReasonDriverUpgrading))},
			after:  []v1.GpuNode{row("a", 8, notReady(v1.ReasonDriverUpgradeFailed))},
			want:   []Change{{Type: "Warning", Reason: "GpuNodeNotReady", Node: "a", Message: "a is not ready: DriverUpgradeFailed"}},
		},
		"a node recovers": {
			before: []v1.GpuNode{row("a", 8, notReady(v1.ReasonNodeNotReady))}, after: []v1.GpuNode{row("a", 8)},
			want: []Change{{Type: "Normal", Reason: "GpuNodeReady", Node: "a", Message: "a is ready again; it was NodeNotReady"}},
		},
		"a count drops": {
			before: []v1.GpuNode{row("a", 8)}, after: []v1.GpuNode{row("a", 7)},
			want: []Change{{Type: "Warning", Reason: "GpuCountDropped", Node: "a", Message: "a has 7 GPUs; it had 8"}},
		},
		"a count grows": {
			before: []v1.GpuNode{row("a", 7)}, after: []v1.GpuNode{row("a", 8)},
			want: []Change{{Type: "Normal", Reason: "GpuCountIncreased", Node: "a", Message: "a has 8 GPUs; it had 7"}},
		},
		"facts are lost": {
			before: []v1.GpuNode{row("a", 8)}, after: []v1.GpuNode{row("a", 0, unlabelled)},
			want: []Change{{Type: "Warning", Reason: "GpuFactsLost", Node: "a", Message: "a: unknown number of nvidia GPUs of unknown product; it was 8 x nvidia NVIDIA-H100-80GB-HBM3"}},
		},
		"facts that are only remembered are lost": {
			before: []v1.GpuNode{row("a", 8)}, after: []v1.GpuNode{row("a", 8, lastKnown)},
			want: []Change{{Type: "Warning", Reason: "GpuFactsLost", Node: "a", Message: "a: no longer readable, last known: 8 x nvidia NVIDIA-H100-80GB-HBM3"}},
		},
		"facts that were only remembered are read again": {
			before: []v1.GpuNode{row("a", 8, lastKnown)}, after: []v1.GpuNode{row("a", 8)},
			want: []Change{{Type: "Normal", Reason: "GpuFactsRestored", Node: "a", Message: "a: 8 x nvidia NVIDIA-H100-80GB-HBM3"}},
		},
		"facts that stay lost are no news": {
			before: []v1.GpuNode{row("a", 8, lastKnown)}, after: []v1.GpuNode{row("a", 8, lastKnown)},
		},
		"a count that drops while other facts are lost is told once": {
			before: []v1.GpuNode{row("a", 8)}, after: []v1.GpuNode{row("a", 7, lastKnown)},
			want: []Change{
				{Type: "Warning", Reason: "GpuCountDropped", Node: "a", Message: "a has 7 GPUs; it had 8"},
				{Type: "Warning", Reason: "GpuFactsLost", Node: "a", Message: "a: no longer readable, last known: 7 x nvidia NVIDIA-H100-80GB-HBM3"},
			},
		},
		"and not again when they return": {
			before: []v1.GpuNode{row("a", 7, lastKnown)}, after: []v1.GpuNode{row("a", 7)},
			want: []Change{{Type: "Normal", Reason: "GpuFactsRestored", Node: "a", Message: "a: 7 x nvidia NVIDIA-H100-80GB-HBM3"}},
		},
		"MIG hides the number of GPUs, which is no loss": {
			before: []v1.GpuNode{row("a", 8)}, after: []v1.GpuNode{row("a", 8, lastKnown, sharing(v1.SharingMIG, "MIG-1g.10gb"))},
		},
		"MIG is switched off, which restores nothing": {
			before: []v1.GpuNode{row("a", 8, lastKnown, sharing(v1.SharingMIG, "MIG-1g.10gb"))}, after: []v1.GpuNode{row("a", 8)},
		},
		"facts return": {
			before: []v1.GpuNode{row("a", 0, unlabelled)}, after: []v1.GpuNode{row("a", 8)},
			want: []Change{{Type: "Normal", Reason: "GpuFactsRestored", Node: "a", Message: "a: 8 x nvidia NVIDIA-H100-80GB-HBM3"}},
		},
		"GPUs turn unhealthy": {
			before: []v1.GpuNode{row("a", 8)}, after: []v1.GpuNode{row("a", 8, units("nvidia.com/gpu", 8, 7))},
			want: []Change{{Type: "Warning", Reason: "GpusUnhealthy", Node: "a", Message: "a: 1 of 8 GPU units are not allocatable"}},
		},
		"some GPUs recover": {
			before: []v1.GpuNode{row("a", 8, units("nvidia.com/gpu", 8, 6))}, after: []v1.GpuNode{row("a", 8, units("nvidia.com/gpu", 8, 7))},
			want: []Change{{Type: "Normal", Reason: "GpusHealthy", Node: "a", Message: "a: 1 of 8 GPU units are not allocatable; it was 2"}},
		},
		"all GPUs recover": {
			before: []v1.GpuNode{row("a", 8, units("nvidia.com/gpu", 8, 6))}, after: []v1.GpuNode{row("a", 8)},
			want: []Change{{Type: "Normal", Reason: "GpusHealthy", Node: "a", Message: "a: all 8 GPU units are allocatable again"}},
		},
		"units of a node that fails are not news of their own": {
			before: []v1.GpuNode{row("a", 8)},
			after:  []v1.GpuNode{row("a", 8, notReady(v1.ReasonNoAllocatableGpu), units("nvidia.com/gpu", 8, 0))},
			want:   []Change{{Type: "Warning", Reason: "GpuNodeNotReady", Node: "a", Message: "a is not ready: NoAllocatableGpu"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, after := Snapshot(tc.before), Snapshot(tc.after)
			if diff := cmp.Diff(tc.want, Changes(&before, &after), withoutAction); diff != "" {
				t.Errorf("Changes() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangesDoNotTakeAnOmittedRowForANewOrALostNode(t *testing.T) {
	full := Snapshot([]v1.GpuNode{row("a", 8), row("b", 8)})
	cut := Snapshot([]v1.GpuNode{row("a", 8)})
	cut.NodesOmitted = 1
	if got := Changes(&full, &cut); got != nil {
		t.Errorf("rows left out: %v", got)
	}
	if got := Changes(&cut, &full); got != nil {
		t.Errorf("rows shown again: %v", got)
	}
}

func TestAggregateJoinsMoreThanTenOfAKind(t *testing.T) {
	var none v1.GpuInventoryStatus
	for _, n := range []int{10, 11} {
		var rows []v1.GpuNode
		for i := range n {
			rows = append(rows, row(fmt.Sprintf("node-%02d", i), 8))
		}
		all := Snapshot(rows)
		got := Aggregate(Changes(&none, &all))
		if n <= 10 {
			if len(got) != n {
				t.Errorf("%d changes became %d", n, len(got))
			}
			continue
		}
		want := []Change{{Type: "Normal", Reason: "GpuNodeAdded", Node: "", Message: "11 nodes: node-00, node-01, node-02, node-03, node-04 and 6 more"}}
		if diff := cmp.Diff(want, got, withoutAction); diff != "" {
			t.Errorf("Aggregate() (-want +got):\n%s", diff)
		}
	}
}

func TestChangesOfExpectations(t *testing.T) {
	cases := map[string]struct {
		before, after metav1.ConditionStatus // empty: no condition
		want          []Change
	}{
		"nothing is expected":                   {},
		"as expected from the start":            {after: "True"},
		"missed from the start":                 {after: "False", want: []Change{{Type: "Warning", Reason: "ExpectationMissed", Node: "", Message: "p: False"}}},
		"still missed":                          {before: "False", after: "False"},
		"missed":                                {before: "True", after: "False", want: []Change{{Type: "Warning", Reason: "ExpectationMissed", Node: "", Message: "p: False"}}},
		"met":                                   {before: "False", after: "True", want: []Change{{Type: "Normal", Reason: "ExpectationMet", Node: "", Message: "p: True"}}},
		"met after a while of not knowing":      {before: "Unknown", after: "True", want: []Change{{Type: "Normal", Reason: "ExpectationMet", Node: "", Message: "p: True"}}},
		"missed after a while of not knowing":   {before: "Unknown", after: "False", want: []Change{{Type: "Warning", Reason: "ExpectationMissed", Node: "", Message: "p: False"}}},
		"not known":                             {before: "True", after: "Unknown"},
		"nothing is expected any more":          {before: "False"},
		"not known from the start":              {after: "Unknown"},
		"not known, which was missed until now": {before: "False", after: "Unknown"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			of := func(status metav1.ConditionStatus) *v1.GpuInventoryStatus {
				s := Snapshot(nil)
				if status != "" {
					s.Conditions = append(s.Conditions, metav1.Condition{Type: v1.ConditionAsExpected, Status: status, Message: "p: " + string(status)})
				}
				return &s
			}
			if diff := cmp.Diff(tc.want, Aggregate(Changes(of(tc.before), of(tc.after))), withoutAction); diff != "" {
				t.Errorf("Changes() (-want +got):\n%s", diff)
			}
		})
	}
}
