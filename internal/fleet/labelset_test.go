package fleet

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLabelsCanBeSelectedBy(t *testing.T) {
	var p labelPacker
	p.pack(map[string]string{"a": "other", "b": "2", "none": "x"})
	set := p.pack(map[string]string{"b": "2", "a": "1", "empty": ""})
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
	if !selector(t, "a=1,!none,empty").Matches(set) {
		t.Error("a selector does not match")
	}
}

// randomLabels are labels that are nearly those of a pool, or not at all.
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

func TestPackedLabelsAreTheSameLabels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p labelPacker
	var sets []*labelSet
	var all []map[string]string
	shared := 0
	for range 500 {
		in := randomLabels(r)
		set := p.pack(maps.Clone(in))
		if diff := cmp.Diff(in, set.toMap()); diff != "" {
			t.Fatalf("packed labels (-want +got):\n%s", diff)
		}
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
		if got := sets[i].equal(sets[j]); got != want {
			t.Fatalf("equal() = %v for\n%v\n%v", got, all[i], all[j])
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
	var p, q labelPacker
	q.pack(map[string]string{"a": "1"})
	a, b := p.pack(in), q.pack(in)
	if !a.equal(b) || !sameLabels(a, b) {
		t.Error("equal labels differ")
	}
	if sameLabels(a, nil) || !sameLabels(nil, nil) {
		t.Error("no labels are the same as some, or not as none")
	}
}

func TestATemplateGoesWithItsLastSet(t *testing.T) {
	var p labelPacker
	set := p.pack(map[string]string{"a": "1"})
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
