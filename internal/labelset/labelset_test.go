package labelset

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
)

var _ labels.Labels = (*Set)(nil)

func TestLabelsCanBeSelectedBy(t *testing.T) {
	var p Packer
	p.Pack(map[string]string{"a": "other", "b": "2", "none": "x"})
	set := p.Pack(map[string]string{"b": "2", "a": "1", "empty": ""})
	if len(set.own) == 0 {
		t.Fatal("the second set does not share the template of the first")
	}
	for key, want := range map[string]string{"a": "1", "b": "2", "empty": "", "none": ""} {
		if got := set.Get(key); got != want {
			t.Errorf("Get(%q) = %q, want %q", key, got, want)
		}
		if got := set.Has(key); got != (key != "none") {
			t.Errorf("Has(%q) = %v", key, got)
		}
	}
	selector, err := labels.Parse("a=1,!none,empty")
	if err != nil {
		t.Fatal(err)
	}
	if !selector.Matches(set) {
		t.Error("a selector does not match")
	}
}

// randomLabels returns labels that are nearly those of a pool, or not at all.
func randomLabels(r *rand.Rand) map[string]string {
	out := map[string]string{}
	if r.IntN(10) == 0 {
		for range r.IntN(40) {
			out[fmt.Sprint("odd-", r.IntN(60))] = fmt.Sprint(r.IntN(3))
		}
		return out
	}
	for i := range 60 {
		out[fmt.Sprintf("label-%02d", i)] = "same"
	}
	for range r.IntN(2 * maxOwn) {
		switch key := fmt.Sprintf("label-%02d", r.IntN(70)); r.IntN(3) {
		case 0:
			delete(out, key)
		default:
			out[key] = fmt.Sprint(r.IntN(4))
		}
	}
	return out
}

// checkContent compares everything that can be asked of a set with the labels that it was made of.
func checkContent(t *testing.T, set *Set, want map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, set.ToMap()); diff != "" {
		t.Fatalf("packed labels (-want +got):\n%s", diff)
	}
	if set.Len() != len(want) {
		t.Fatalf("Len() = %d, want %d", set.Len(), len(want))
	}
	for _, prefix := range []string{"", "label-", "label-3", "odd-1", "x", "label-30"} {
		var keys []string
		for key, value := range set.Prefix(prefix) {
			keys = append(keys, key)
			if value != want[key] {
				t.Fatalf("Prefix(%q) has %s=%s, want %q", prefix, key, value, want[key])
			}
		}
		var wantKeys []string
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if strings.HasPrefix(key, prefix) {
				wantKeys = append(wantKeys, key)
			}
		}
		if diff := cmp.Diff(wantKeys, keys); diff != "" {
			t.Fatalf("Prefix(%q) (-want +got):\n%s", prefix, diff)
		}
	}
}

func TestPackedLabelsAreTheSameLabels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p Packer
	var sets []*Set
	var all []map[string]string
	shared := 0
	for range 500 {
		in := randomLabels(r)
		set := p.Pack(maps.Clone(in))
		checkContent(t, set, in)
		if len(set.own) > maxOwn {
			t.Fatalf("%d labels of its own, want at most %d", len(set.own), maxOwn)
		}
		if len(set.own) > 0 {
			shared++
		}
		sets, all = append(sets, set), append(all, in)
	}
	if shared < 100 {
		t.Errorf("%d of 500 sets share a template", shared)
	}
	if len(p.templates) > maxTemplates {
		t.Errorf("%d templates, want at most %d", len(p.templates), maxTemplates)
	}
	equal := 0
	for range 20_000 {
		i, j := r.IntN(len(sets)), r.IntN(len(sets))
		want := maps.Equal(all[i], all[j])
		if got := sets[i].Equal(sets[j]); got != want {
			t.Fatalf("Equal() = %v for\n%v\n%v", got, all[i], all[j])
		}
		if got := sets[i].Equal(Of(all[j])); got != want {
			t.Fatalf("Equal() = %v for a set that shares nothing, of\n%v\n%v", got, all[i], all[j])
		}
		if want {
			equal++
		}
	}
	if equal == 0 {
		t.Error("no two sets were equal")
	}
}

func TestEqualLabelsOfDifferentTemplatesAreEqual(t *testing.T) {
	in := map[string]string{"a": "1", "b": "2"}
	var p, q Packer
	q.Pack(map[string]string{"a": "1"})
	a, b := p.Pack(in), q.Pack(in)
	if !a.Equal(b) || !b.Equal(a) {
		t.Error("equal labels differ")
	}
	if a.Equal(q.Pack(map[string]string{"a": "1"})) {
		t.Error("labels equal some of themselves")
	}
}

func TestNoLabels(t *testing.T) {
	var none *Set
	if none.Has("a") || none.Get("a") != "" || none.Len() != 0 || len(none.ToMap()) != 0 {
		t.Error("a nil set has labels")
	}
	var p *Packer
	for _, empty := range []*Set{{}, Of(nil), p.Pack(nil)} {
		if !none.Equal(empty) || !empty.Equal(none) || !none.Equal(nil) {
			t.Error("sets without labels differ")
		}
	}
	some := p.Pack(map[string]string{"a": ""})
	if none.Equal(some) || some.Equal(none) {
		t.Error("no labels are the same as one with an empty value")
	}
}

func TestALoopOverLabelsCanEndEarly(t *testing.T) {
	n := 0
	for range Of(map[string]string{"a": "1", "b": "2"}).All() {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d labels were seen, want 1", n)
	}
}

func TestATemplateGoesWithItsLastSet(t *testing.T) {
	var p Packer
	set := p.Pack(map[string]string{"a": "1"})
	if len(p.templates) != 1 || p.templates[0].Value() != set.shared {
		t.Fatal("the set has no template")
	}
	runtime.KeepAlive(set)
	for range 5 { // collections, of which one is enough
		runtime.GC()
	}
	if p.templates[0].Value() != nil {
		t.Error("the template is still there")
	}
}
