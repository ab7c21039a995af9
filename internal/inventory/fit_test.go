package inventory

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

func TestFitLeavesASmallStatusAlone(t *testing.T) {
	s := Snapshot([]v1.GpuNode{row("a", 8), row("b", 8, notReady(v1.ReasonNodeNotReady))})
	got, err := Fit(s, MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, got); diff != "" {
		t.Errorf("Fit() (-want +got):\n%s", diff)
	}
}

func TestFitAtTwentyThousandNodesWithLongNames(t *testing.T) {
	var rows []v1.GpuNode
	problems := map[string]bool{}
	for i := range 20_000 {
		name := fmt.Sprintf("%05d-%s", i, strings.Repeat("n", 247))
		var mods []func(*v1.GpuNode)
		if i%1000 == 0 {
			mods = append(mods, notReady(v1.ReasonNodeNotReady))
			problems[name] = true
		}
		rows = append(rows, row(name, 8, mods...))
	}
	full := Snapshot(rows)
	before := full.DeepCopy()
	s, err := Fit(full, MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*before, full); diff != "" {
		t.Errorf("Fit() changed its input (-before +after):\n%s", diff)
	}
	stored, _ := Next(v1.GpuInventoryStatus{}, s, 1, testTime)
	encoded, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > MaxBytes {
		t.Errorf("the status takes %d bytes", len(encoded))
	}
	if len(encoded) < MaxBytes*9/10 {
		t.Errorf("the status takes %d bytes: rows are left out for nothing", len(encoded))
	}
	if got := len(s.Nodes) + int(s.NodesOmitted); got != 20_000 {
		t.Errorf("%d rows shown or told, want 20000", got)
	}
	for _, n := range s.Nodes {
		delete(problems, n.Name)
	}
	if len(problems) > 0 {
		t.Errorf("%d rows of nodes that are not ready are left out", len(problems))
	}
	if *s.TotalGpus != 160_000 || *s.TotalGpuNodes != 20_000 {
		t.Errorf("totals %d GPUs on %d nodes", *s.TotalGpus, *s.TotalGpuNodes)
	}
	c := meta.FindStatusCondition(s.Conditions, v1.ConditionComplete)
	if c.Reason != v1.ConditionReasonRowsOmitted || !strings.Contains(c.Message, fmt.Sprint(s.NodesOmitted)) {
		t.Errorf("Complete = %s %s: %s", c.Status, c.Reason, c.Message)
	}
}
