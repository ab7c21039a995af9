package source

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldOwner is the field manager of everything that the operator writes.
const FieldOwner = "gpu-inventory-operator"

// lagLimit is how long a cache may take to see a write. An object that it still has not seen then has been deleted.
const lagLimit = time.Minute

// Own remembers the objects that this process wrote last, until the cache has caught up with them. Without it a
// reconcile that follows a write closely would compare with the object from before that write, and write the same again.
type Own[T client.Object] struct {
	mu   sync.Mutex
	last map[types.NamespacedName]*ownWrite[T]
}

// ownWrite is one write: which version of the object it made, and the object itself until the cache has it.
type ownWrite[T client.Object] struct {
	uid     types.UID
	version string
	at      time.Time
	obj     T
	lagging bool
}

// Wrote remembers an object as the API server returned it.
func (o *Own[T]) Wrote(obj T, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.last == nil {
		o.last = map[types.NamespacedName]*ownWrite[T]{}
	}
	o.last[client.ObjectKeyFromObject(obj)] = &ownWrite[T]{obj.GetUID(), obj.GetResourceVersion(), now, obj, true}
}

// Forget drops what was written, because the object is gone.
func (o *Own[T]) Forget(key types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.last, key)
}

// Newest is the newer of the cached object and the one last written.
func (o *Own[T]) Newest(cached T) T {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.last[client.ObjectKeyFromObject(cached)]
	if last == nil || !last.lagging {
		return cached
	}
	if last.newerThan(cached) {
		return last.obj
	}
	last.lagging = false
	last.obj = *new(T)
	return cached
}

// Unseen is the object last written while the cache has none of its name: it has just been created. After lagLimit it has
// been deleted, and nobody told.
func (o *Own[T]) Unseen(key types.NamespacedName, now time.Time) (obj T, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.last[key]
	if last == nil || !last.lagging || now.Sub(last.at) > lagLimit {
		return obj, false
	}
	return last.obj, true
}

// IsEcho reports whether an object is just what this process wrote, coming back by its watch.
func (o *Own[T]) IsEcho(obj T) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.last[client.ObjectKeyFromObject(obj)]
	return last != nil && last.uid == obj.GetUID() && last.version == obj.GetResourceVersion()
}

// newerThan reports whether the write made a later version of the same object. Versions that cannot be compared are not.
func (w *ownWrite[T]) newerThan(obj T) bool {
	if w.uid != obj.GetUID() {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(w.version, obj.GetResourceVersion())
	return err == nil && order > 0
}
