package labelset

import (
	"cmp"
	"slices"
	"sync"
	"weak"
)

// Packer makes sets that share templates. It does not keep a template alive that no set uses. Several goroutines may use it
// at once.
type Packer struct {
	mu        sync.Mutex
	templates []weak.Pointer[template] // the one used last comes first
}

const (
	// maxOwn is how many labels of a set may differ from a template. With more, the set becomes a template itself.
	maxOwn = 12
	// maxTemplates bounds the search. Sets that match none of so many templates share nothing.
	maxTemplates = 256
)

// Pack returns a set with the given labels. A nil Packer makes sets that share nothing.
func (p *Packer) Pack(labels map[string]string) *Set {
	if p == nil {
		return Of(labels)
	}
	in := sorted(labels)
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range p.templates {
		t := w.Value()
		if t == nil {
			continue
		}
		if own, ok := difference(t.labels, in); ok {
			copy(p.templates[1:], p.templates[:i])
			p.templates[0] = w
			return &Set{t, own}
		}
	}
	t := &template{in}
	p.templates = slices.DeleteFunc(p.templates, func(w weak.Pointer[template]) bool { return w.Value() == nil })
	if len(p.templates) < maxTemplates {
		p.templates = slices.Insert(p.templates, 0, weak.Make(t))
	}
	return &Set{shared: t}
}

// difference returns what sets labels apart from those of a template, both sorted by key. It returns false if that is more
// than maxOwn labels.
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

// compareHeads compares the keys of the first labels of two lists. A list that is at its end comes last.
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
