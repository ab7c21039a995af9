package publish

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// Answer is an inventory as it was computed, before anything is left out of it for its size. It is shared and must not be
// changed.
type Answer struct {
	// Status is the content of a GpuInventory status, with every row.
	Status v1.GpuInventoryStatus
	// Pools are the states of the pools that the GpuInventory expects, if any.
	Pools []inventory.PoolState
}

// Record is what this process knows about the objects of one output: what it has computed, sent and written. The zero
// Record is empty and ready to use. It is safe for concurrent use.
type Record[T client.Object] struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]*entry[T]
}

// entry is the record of one object. Each part is there from the first time that it happens.
type entry[T client.Object] struct {
	answer    *Answer     // computed last in this term of leadership; nil: none
	attempted time.Time   // when a write was last attempted; zero: never
	sent      T           // last, whether or not it was written; the zero T: nothing
	written   *written[T] // nil: nothing
}

// written is the last write that succeeded.
type written[T client.Object] struct {
	uid     types.UID
	version string
	at      time.Time
	answer  *Answer
	// object is what the API server returned, until the cache has it.
	object  T
	lagging bool
}

// WriteInterval is the least time between two writes of an object. The first change after a pause is written at once; what
// follows within the interval becomes one write at its end. A storm of any length costs one write a second.
const WriteInterval = time.Second

// cacheLag is how long a cache may take to see a write. An object that it still does not have then has been deleted.
const cacheLag = time.Minute

// Answers returns the answers computed in this term of leadership, by object.
func (r *Record[T]) Answers() map[types.NamespacedName]*Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[types.NamespacedName]*Answer, len(r.entries))
	for key, e := range r.entries {
		if e.answer != nil {
			out[key] = e.answer
		}
	}
	return out
}

// EndTerm withdraws all answers: what a former leader computed is not for others to see.
func (r *Record[T]) EndTerm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.entries {
		e.answer = nil
	}
}

// Forget drops everything about an object that is gone.
func (r *Record[T]) Forget(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.entries, key)
}

// ForgetWrite drops what was written, because it is no longer what is stored.
func (r *Record[T]) ForgetWrite(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[key]; e != nil {
		e.written = nil
	}
}

// Sent returns what was last sent of an object, whether or not it was written; false: nothing.
func (r *Record[T]) Sent(key types.NamespacedName) (sent T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[key]; e != nil {
		sent = e.sent
	}
	return sent, any(sent) != any(*new(T))
}

// Newest returns the newer of the cached object and the one last written. Until the cache has caught up with a write, the
// cached object is the one from before it, and comparing with that would write the same again.
func (r *Record[T]) Newest(cached T) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.writtenOf(client.ObjectKeyFromObject(cached))
	if w == nil || !w.lagging {
		return cached
	}
	if w.newerThan(cached) {
		return w.object
	}
	w.lagging, w.object = false, *new(T)
	return cached
}

// Created returns the object last written while the cache has none of its name: it has just been created. After cacheLag it
// counts as deleted.
func (r *Record[T]) Created(key types.NamespacedName, now time.Time) (_ T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.writtenOf(key)
	if w == nil || !w.lagging || now.Sub(w.at) > cacheLag {
		return *new(T), false
	}
	return w.object, true
}

// IsEcho reports whether an object is just what this process wrote, coming back by its watch.
func (r *Record[T]) IsEcho(obj T) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.writtenOf(client.ObjectKeyFromObject(obj))
	return w != nil && w.is(obj)
}

// answerOf returns the answer that an object was written from; nil: nobody has written it, or somebody else.
func (r *Record[T]) answerOf(key types.NamespacedName, stored T) *Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.writtenOf(key); w != nil && any(stored) != any(*new(T)) && w.is(stored) {
		return w.answer
	}
	return nil
}

func (r *Record[T]) answered(key types.NamespacedName, answer *Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entry(key).answer = answer
}

// attempt returns how long an attempt to write the object has to wait. 0: not at all, and the attempt is on record, whether or
// not it will succeed: an API server in trouble is asked no more often than a healthy one.
func (r *Record[T]) attempt(key types.NamespacedName, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entry(key)
	if wait := e.attempted.Add(WriteInterval).Sub(now); wait > 0 {
		return wait
	}
	e.attempted = now
	return 0
}

// Sending puts an object on record before it is sent: the watch may be faster than the response.
func (r *Record[T]) Sending(key types.NamespacedName, obj T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entry(key).sent = obj
}

// wrote puts a write on record, with the object as the API server returned it.
func (r *Record[T]) wrote(obj T, answer *Answer, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entry(client.ObjectKeyFromObject(obj)).written = &written[T]{
		uid: obj.GetUID(), version: obj.GetResourceVersion(), at: now, answer: answer, object: obj, lagging: true,
	}
}

func (r *Record[T]) entry(key types.NamespacedName) *entry[T] {
	e := r.entries[key]
	if e == nil {
		e = &entry[T]{}
		if r.entries == nil {
			r.entries = map[types.NamespacedName]*entry[T]{}
		}
		r.entries[key] = e
	}
	return e
}

func (r *Record[T]) writtenOf(key types.NamespacedName) *written[T] {
	if e := r.entries[key]; e != nil {
		return e.written
	}
	return nil
}

func (w *written[T]) is(obj T) bool {
	return w.uid == obj.GetUID() && w.version == obj.GetResourceVersion()
}

// newerThan reports whether the write made a later version of the same object. Versions that cannot be compared are not.
func (w *written[T]) newerThan(obj T) bool {
	if w.uid != obj.GetUID() {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(w.version, obj.GetResourceVersion())
	return err == nil && order > 0
}
