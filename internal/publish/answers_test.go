package publish

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

func TestAnswersAreThoseOfThisTerm(t *testing.T) {
	var r Record[*corev1.ConfigMap]
	one, two := types.NamespacedName{Name: "one"}, types.NamespacedName{Name: "two"}
	first := &Answer{Pools: []inventory.PoolState{{Name: "p"}, {Name: "q"}}}
	second := &Answer{}
	r.answered(one, first)
	r.answered(two, second)
	kept := r.Answers()
	before := maps.Clone(kept)
	if kept[one] != first || kept[two] != second || len(kept) != 2 {
		t.Errorf("Answers() = %v", kept)
	}

	r.answered(one, second) // expects nothing any more
	r.Forget(two)
	if got := r.Answers(); !slices.Equal(slices.Collect(maps.Keys(got)), []types.NamespacedName{one}) || got[one] != second {
		t.Errorf("after two was forgotten and one computed again there are %v", got)
	}
	if diff := cmp.Diff(before, kept); diff != "" {
		t.Errorf("a reader's map has changed (-before +after):\n%s", diff)
	}

	r.answered(one, first)
	r.EndTerm()
	if got := r.Answers(); len(got) != 0 {
		t.Errorf("after the term there are %v", got)
	}
}
