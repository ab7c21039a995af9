package source

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldOwner is the field manager of everything that the operator writes.
const FieldOwner = "gpu-inventory-operator"

// Own remembers the objects that this process wrote last, until the cache has caught up with them. Without it a
// reconcile that follows a write closely would compare with the object from before that write, and write the same again.
type Own[T client.Object] struct {
	mu   sync.Mutex
	last map[types.NamespacedName]T
}

// Wrote remembers an object as the API server returned it.
func (o *Own[T]) Wrote(obj T) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		o.last = map[types.NamespacedName]T{}
	}
	o.last[client.ObjectKeyFromObject(obj)] = obj
}

// Forget drops what was written, because the object is gone.
func (o *Own[T]) Forget(key types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.last, key)
}

// Newest is the newer of the cached object and the one last written.
func (o *Own[T]) Newest(cached T) T {
	if last, ok := o.Last(client.ObjectKeyFromObject(cached)); ok && newer(last, cached) {
		return last
	}
	return cached
}

// Last is the object last written, if any.
func (o *Own[T]) Last(key types.NamespacedName) (T, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, ok := o.last[key]
	return last, ok
}

// IsEcho reports whether an object is just what this process wrote, coming back by its watch.
func (o *Own[T]) IsEcho(obj T) bool {
	last, ok := o.Last(client.ObjectKeyFromObject(obj))
	return ok && last.GetUID() == obj.GetUID() && last.GetResourceVersion() == obj.GetResourceVersion()
}

// newer reports whether a is a later version of the same object. Versions that cannot be compared are not.
func newer(a, b client.Object) bool {
	if a.GetUID() != b.GetUID() {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order > 0
}
