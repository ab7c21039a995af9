package source

import (
	"fmt"
	"sync/atomic"

	toolscache "k8s.io/client-go/tools/cache"
)

// sink is where a watch puts objects of type O, of which only a T each is kept. Objects become Ts as soon as they are
// decoded, also while a first list is still arriving: typed objects never add up.
//
// Without an informer in between there are no typed caches and no handlers: a T is handed over at once.
type sink[O any, T any] struct {
	// reduce makes a T. What it returns nil for is not kept.
	reduce func(O) *T
	// key identifies an object that is deleted.
	key func(O) string
	// set, remove and replace take what arrived. They are never called at the same time.
	set     func(*T)
	remove  func(key string)
	replace func([]*T)
	// announce is called when a list has arrived whole for the first time: what was unknown until then is known now, even
	// if the list changed nothing.
	announce func()
	// synced is true from then on.
	synced atomic.Bool
}

// Add implements cache.ReflectorStore.
func (s *sink[O, T]) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *sink[O, T]) Update(obj any) error {
	o, ok := obj.(O)
	if !ok {
		return fmt.Errorf("keep %T: not a %T", obj, *new(O))
	}
	key := s.key(o)
	if t := s.reduce(o); t != nil {
		s.set(t)
	} else {
		s.remove(key)
	}
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *sink[O, T]) Delete(obj any) error {
	o, ok := obj.(O)
	if !ok {
		return fmt.Errorf("drop %T: not a %T", obj, *new(O))
	}
	s.remove(s.key(o))
	return nil
}

// Replace implements cache.ReflectorStore. A streamed list arrives transformed, one from an older server as it is.
func (s *sink[O, T]) Replace(list []any, _ string) error {
	kept := make([]*T, 0, len(list))
	for _, obj := range list {
		t, err := s.transform(obj)
		if err != nil {
			return err
		}
		if t := t.(*T); t != nil {
			kept = append(kept, t)
		}
	}
	s.replace(kept)
	if !s.synced.Swap(true) && s.announce != nil {
		s.announce()
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *sink[O, T]) Resync() error { return nil }

// Transformer implements cache.TransformingStore.
func (s *sink[O, T]) Transformer() toolscache.TransformFunc { return s.transform }

func (s *sink[O, T]) transform(obj any) (any, error) {
	switch obj := obj.(type) {
	case *T: // transformed already; a transformer may be called twice
		return obj, nil
	case O:
		return s.reduce(obj), nil
	default:
		return nil, fmt.Errorf("reduce %T: not a %T", obj, *new(O))
	}
}
