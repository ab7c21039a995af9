package fleet

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"
	"weak"

	"k8s.io/apimachinery/pkg/labels"
)

// labelSet are the labels of a Node: those of a template that many Nodes share, and what is different. Nodes of a pool have
// nearly the same 90 labels, of which all may be selected by. It is a labels.Labels, and is never changed.
type labelSet struct {
	shared *template
	own    []ownLabel // sorted by key
}

// template are labels sorted by key.
type template struct{ labels []label }

type label struct{ key, value string }

// ownLabel is a label that the template does not have, or has with another value, or one that only the template has.
type ownLabel struct {
	label
	absent bool
}

// Has implements labels.Labels.
func (s *labelSet) Has(key string) bool {
	_, ok := s.Lookup(key)
	return ok
}

// Get implements labels.Labels.
func (s *labelSet) Get(key string) string {
	value, _ := s.Lookup(key)
	return value
}

// Lookup implements labels.Labels.
func (s *labelSet) Lookup(key string) (string, bool) {
	if i, ok := slices.BinarySearchFunc(s.own, key, func(l ownLabel, key string) int { return cmp.Compare(l.key, key) }); ok {
		return s.own[i].value, !s.own[i].absent
	}
	if i, ok := slices.BinarySearchFunc(s.shared.labels, key, func(l label, key string) int { return cmp.Compare(l.key, key) }); ok {
		return s.shared.labels[i].value, true
	}
	return "", false
}

func (s *labelSet) toMap() map[string]string { return maps.Collect(s.all()) }

// all are the labels in the order of their keys.
func (s *labelSet) all() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		shared, own := s.shared.labels, s.own
		for len(shared)+len(own) > 0 {
			switch {
			case len(own) == 0 || len(shared) > 0 && shared[0].key < own[0].key:
				if !yield(shared[0].key, shared[0].value) {
					return
				}
				shared = shared[1:]
				continue
			case len(shared) > 0 && shared[0].key == own[0].key:
				shared = shared[1:]
			}
			if !own[0].absent && !yield(own[0].key, own[0].value) {
				return
			}
			own = own[1:]
		}
	}
}

// equal reports whether two sets have the same labels, whatever they share.
func (s *labelSet) equal(o *labelSet) bool {
	if s.shared == o.shared {
		return slices.Equal(s.own, o.own)
	}
	return maps.Equal(s.toMap(), o.toMap())
}

// sameLabels is equal for the labels of a Change, which may be none.
func sameLabels(a, b labels.Labels) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.(*labelSet).equal(b.(*labelSet))
}

// labelPacker makes label sets that share what they can. It keeps no template that no set uses.
type labelPacker struct {
	mu        sync.Mutex
	templates []weak.Pointer[template] // the one used last comes first
}

const (
	// maxOwn is how many labels may differ from a template before the Node becomes one itself.
	maxOwn = 12
	// maxTemplates bounds the search. Labels beyond it are kept as they are.
	maxTemplates = 256
)

func (p *labelPacker) pack(in map[string]string) *labelSet {
	sorted := make([]label, 0, len(in))
	for k, v := range in {
		sorted = append(sorted, label{k, v})
	}
	slices.SortFunc(sorted, func(a, b label) int { return cmp.Compare(a.key, b.key) })
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range p.templates {
		t := w.Value()
		if t == nil {
			continue
		}
		if own, ok := difference(t.labels, sorted); ok {
			copy(p.templates[1:], p.templates[:i])
			p.templates[0] = w
			return &labelSet{t, own}
		}
	}
	t := &template{sorted}
	p.templates = slices.DeleteFunc(p.templates, func(w weak.Pointer[template]) bool { return w.Value() == nil })
	if len(p.templates) < maxTemplates {
		p.templates = slices.Insert(p.templates, 0, weak.Make(t))
	}
	return &labelSet{shared: t}
}

// difference is what sets labels apart from those of a template, both sorted by key; false: more than maxOwn.
func difference(shared, labels []label) ([]ownLabel, bool) {
	var own [maxOwn]ownLabel
	n := 0
	for len(shared)+len(labels) > 0 {
		var differs ownLabel
		switch order := compareHeads(shared, labels); {
		case order < 0:
			differs = ownLabel{label{key: shared[0].key}, true}
			shared = shared[1:]
		case order > 0:
			differs = ownLabel{labels[0], false}
			labels = labels[1:]
		default:
			same := shared[0].value == labels[0].value
			differs = ownLabel{label{shared[0].key, labels[0].value}, false}
			shared, labels = shared[1:], labels[1:]
			if same {
				continue
			}
		}
		if n == maxOwn {
			return nil, false
		}
		own[n] = differs
		n++
	}
	return slices.Clone(own[:n]), true
}

// compareHeads compares the keys of the first labels of two lists, of which one may be empty, and so at its end.
func compareHeads(a, b []label) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	default:
		return cmp.Compare(a[0].key, b[0].key)
	}
}
