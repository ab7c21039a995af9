package source

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// MinWriteInterval is the least time between two writes of an object. The first change after a pause is written at once;
// what follows within the interval becomes one write at its end. A storm of any length costs one write a second.
const MinWriteInterval = time.Second

// Pace remembers when objects were last written. The zero value is ready.
type Pace struct {
	mu   sync.Mutex
	last map[types.NamespacedName]time.Time
}

// Wait is how long a write of the object has to wait; 0: not at all.
func (p *Pace) Wait(key types.NamespacedName, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, ok := p.last[key]
	if !ok {
		return 0
	}
	return max(last.Add(MinWriteInterval).Sub(now), 0)
}

// Wrote notes a write.
func (p *Pace) Wrote(key types.NamespacedName, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[types.NamespacedName]time.Time{}
	}
	p.last[key] = now
}

// Forget drops an object that is gone.
func (p *Pace) Forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.last, key)
}
