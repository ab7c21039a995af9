package inventory

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

func TestNextMovesTimesOnlyForACause(t *testing.T) {
	start := time.Date(2026, 7, 10, 15, 0, 0, 123, time.UTC)
	later := start.Add(time.Hour)
	stored, changed := Next(v1.GpuInventoryStatus{}, Snapshot([]v1.GpuNode{row("a", 8)}), 1, start)
	if !changed {
		t.Fatal("a first status is a change")
	}
	stored = roundTrip(t, stored)
	cases := map[string]struct {
		rows       []v1.GpuNode
		generation int64
		changed    bool
		observedAt time.Time // truncated to seconds, as stored
		healthyAt  time.Time
	}{
		"the same content is not written": {
			rows: []v1.GpuNode{row("a", 8)}, generation: 1,
			changed: false, observedAt: start, healthyAt: start,
		},
		"a new generation is written, and the content is as old as it was": {
			rows: []v1.GpuNode{row("a", 8)}, generation: 2,
			changed: true, observedAt: start, healthyAt: start,
		},
		"new content moves observedAt, and no condition that stays": {
			rows: []v1.GpuNode{row("a", 4)}, generation: 1,
			changed: true, observedAt: later, healthyAt: start,
		},
		"a condition that turns moves its own time": {
			rows: []v1.GpuNode{row("a", 8, notReady(v1.ReasonNodeNotReady))}, generation: 1,
			changed: true, observedAt: later, healthyAt: later,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			next, changed := Next(stored, Snapshot(tc.rows), tc.generation, later)
			if changed != tc.changed {
				t.Errorf("changed = %v, want %v", changed, tc.changed)
			}
			if got, want := next.ObservedAt.Time, tc.observedAt.Truncate(time.Second); !got.Equal(want) {
				t.Errorf("observedAt = %s, want %s", got, want)
			}
			if got, want := next.Conditions[0].LastTransitionTime.Time, tc.healthyAt.Truncate(time.Second); !got.Equal(want) {
				t.Errorf("lastTransitionTime of %s = %s, want %s", next.Conditions[0].Type, got, want)
			}
			if next.ObservedGeneration != tc.generation {
				t.Errorf("observedGeneration = %d, want %d", next.ObservedGeneration, tc.generation)
			}
			if _, again := Next(roundTrip(t, next), Snapshot(tc.rows), tc.generation, later.Add(time.Hour)); again {
				t.Error("what was just written would be written again")
			}
		})
	}
}

func TestNextLeavesItsInputsAlone(t *testing.T) {
	stored, _ := Next(v1.GpuInventoryStatus{}, Snapshot([]v1.GpuNode{row("a", 8)}), 1, time.Unix(0, 0))
	found := Snapshot([]v1.GpuNode{row("a", 4)})
	storedBefore, foundBefore := stored.DeepCopy(), found.DeepCopy()
	Next(stored, found, 2, time.Unix(60, 0))
	if diff := cmp.Diff(*storedBefore, stored); diff != "" {
		t.Errorf("stored (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(*foundBefore, found); diff != "" {
		t.Errorf("found (-before +after):\n%s", diff)
	}
}

func TestUnusableCountsNothing(t *testing.T) {
	s := Unusable(v1.ConditionReasonInvalidSelector, "no")
	if s.TotalGpuNodes != nil || s.TotalGpus != nil || s.Nodes != nil {
		t.Errorf("Unusable() states counts: %+v", s)
	}
	for _, c := range s.Conditions {
		if c.Status == metav1.ConditionTrue {
			t.Errorf("condition %s is True", c.Type)
		}
	}
}

var testTime = time.Unix(1_700_000_000, 0)
