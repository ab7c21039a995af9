// Package labelset keeps the labels of many objects in little memory.
//
// The Nodes of a pool have nearly the same 90 labels, and all of them are kept because selectors may name any. A [Set] is a
// template that many sets share, and the few labels that differ from it. A [Packer] makes sets and finds the templates. The
// package imports the standard library only.
package labelset

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Set is a set of labels that never changes. It implements labels.Labels of apimachinery. A nil Set and
// the zero Set have no labels.
type Set struct {
	shared *template
	own    []ownLabel // sorted by key
}

// template holds labels sorted by key.
type template struct{ labels []label }

type label struct{ key, value string }

// ownLabel is a label that the template does not have, or has with another value, or that only the template has.
type ownLabel struct {
	label
	absent bool
}

// Of returns a set that shares nothing with other sets.
func Of(labels map[string]string) *Set {
	return &Set{shared: &template{sorted(labels)}}
}

func sorted(in map[string]string) []label {
	out := make([]label, 0, len(in))
	for k, v := range in {
		out = append(out, label{k, v})
	}
	slices.SortFunc(out, func(a, b label) int { return cmp.Compare(a.key, b.key) })
	return out
}

// Has reports whether the set has a label with a key.
func (s *Set) Has(key string) bool {
	_, ok := s.Lookup(key)
	return ok
}

// Get returns the value of a label, or an empty text if the set does not have it.
func (s *Set) Get(key string) string {
	value, _ := s.Lookup(key)
	return value
}

// Lookup returns the value of a label, and whether the set has it.
func (s *Set) Lookup(key string) (value string, exists bool) {
	if s == nil || s.shared == nil {
		return "", false
	}
	if i, ok := searchOwn(s.own, key); ok {
		return s.own[i].value, !s.own[i].absent
	}
	if i, ok := search(s.shared.labels, key); ok {
		return s.shared.labels[i].value, true
	}
	return "", false
}

func search(in []label, key string) (int, bool) {
	return slices.BinarySearchFunc(in, key, func(l label, key string) int { return cmp.Compare(l.key, key) })
}

func searchOwn(in []ownLabel, key string) (int, bool) {
	return slices.BinarySearchFunc(in, key, func(l ownLabel, key string) int { return cmp.Compare(l.key, key) })
}

// All returns the labels in the order of their keys.
func (s *Set) All() iter.Seq2[string, string] { return s.Prefix("") }

// Prefix returns the labels whose keys start with a prefix, in the order of their keys.
func (s *Set) Prefix(prefix string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		c := s.from(prefix)
		for l, ok := c.next(); ok && strings.HasPrefix(l.key, prefix); l, ok = c.next() {
			if !yield(l.key, l.value) {
				return
			}
		}
	}
}

// Len returns the number of labels.
func (s *Set) Len() int {
	n := 0
	for range s.All() {
		n++
	}
	return n
}

// ToMap returns the labels as a new map.
func (s *Set) ToMap() map[string]string { return maps.Collect(s.All()) }

// Equal reports whether two sets have the same labels, whatever they share.
func (s *Set) Equal(o *Set) bool {
	if s != nil && o != nil && s.shared == o.shared {
		return slices.Equal(s.own, o.own)
	}
	a, b := s.from(""), o.from("")
	for {
		x, more := a.next()
		y, moreOther := b.next()
		if x != y || more != moreOther {
			return false
		}
		if !more {
			return true
		}
	}
}

// cursor walks through the labels of a set in the order of their keys.
type cursor struct {
	shared []label
	own    []ownLabel
}

// from returns a cursor that starts at the first key that is not less than a given one.
func (s *Set) from(key string) cursor {
	if s == nil || s.shared == nil {
		return cursor{}
	}
	i, _ := search(s.shared.labels, key)
	j, _ := searchOwn(s.own, key)
	return cursor{s.shared.labels[i:], s.own[j:]}
}

// next returns the next label. It returns false at the end.
func (c *cursor) next() (l label, ok bool) {
	for len(c.shared)+len(c.own) > 0 {
		if len(c.own) == 0 || len(c.shared) > 0 && c.shared[0].key < c.own[0].key {
			l, c.shared = c.shared[0], c.shared[1:]
			return l, true
		}
		if len(c.shared) > 0 && c.shared[0].key == c.own[0].key {
			c.shared = c.shared[1:]
		}
		first := c.own[0]
		c.own = c.own[1:]
		if !first.absent {
			return first.label, true
		}
	}
	return label{}, false
}
