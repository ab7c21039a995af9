package watch

import (
	"fmt"
	"sync/atomic"

	toolscache "k8s.io/client-go/tools/cache"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
)

// store is what a reflector stores objects in: it hands them to a keeper of the fleet. Objects are reduced as soon as they
// are decoded, also while a first list is still arriving. No informer lies in between, so there is no typed cache and no
// handler that is called later.
type store[O fleet.Object, T any] struct {
	keeper fleet.Keeper[O, T]
	// onFirstList is called when a list has arrived whole for the first time: what was unknown until then is known now, even
	// if the list changed nothing.
	onFirstList func()
	// synced is true from then on.
	synced atomic.Bool
}

// Add implements cache.ReflectorStore.
func (s *store[O, T]) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *store[O, T]) Update(obj any) error {
	o, ok := obj.(O)
	if !ok {
		return fmt.Errorf("keep %T: not a %T", obj, *new(O))
	}
	key := fleet.Key(o)
	if t := s.keeper.Reduce(o); t != nil {
		s.keeper.Set(t)
	} else {
		s.keeper.Remove(key)
	}
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *store[O, T]) Delete(obj any) error {
	o, ok := obj.(O)
	if !ok {
		return fmt.Errorf("drop %T: not a %T", obj, *new(O))
	}
	s.keeper.Remove(fleet.Key(o))
	return nil
}

// Replace implements cache.ReflectorStore. A streamed list arrives transformed; one from an older server does not.
func (s *store[O, T]) Replace(list []any, _ string) error {
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
	s.keeper.Replace(kept)
	if !s.synced.Swap(true) && s.onFirstList != nil {
		s.onFirstList()
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *store[O, T]) Resync() error { return nil }

// Transformer implements cache.TransformingStore.
func (s *store[O, T]) Transformer() toolscache.TransformFunc { return s.transform }

// transform may be called twice for an object.
func (s *store[O, T]) transform(obj any) (any, error) {
	switch obj := obj.(type) {
	case *T:
		return obj, nil
	case O:
		return s.keeper.Reduce(obj), nil
	default:
		return nil, fmt.Errorf("reduce %T: not a %T", obj, *new(O))
	}
}
