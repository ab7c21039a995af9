package watch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
)

func TestAStoreTakesListsTransformedAndNot(t *testing.T) {
	var kept []string
	s := &store[*corev1.Node, string]{keeper: fleet.Keeper[*corev1.Node, string]{
		Reduce: func(n *corev1.Node) *string {
			if n.Name == "none" {
				return nil
			}
			return &n.Name
		},
		Set: func(name *string) { kept = append(kept, *name) }, Remove: func(name string) { kept = append(kept, "-"+name) },
		Replace: func(names []*string) {
			kept = nil
			for _, n := range names {
				kept = append(kept, *n)
			}
		},
	}}
	named := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	transformed, err := s.Transformer()(named("b"))
	if err != nil {
		t.Fatal(err)
	}
	nothing, err := s.Transformer()(named("none"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Replace([]any{named("a"), transformed, nothing}, "1"); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{s.Add(named("c")), s.Update(named("none")), s.Delete(named("a"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "-none", "-a"}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if !s.synced.Load() {
		t.Error("not synced after a list")
	}
	if err := s.Add(toolscache.DeletedFinalStateUnknown{}); err == nil {
		t.Error("an object of another type is taken")
	}
}
