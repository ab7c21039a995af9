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

// Next is how long an attempt to write the object has to wait. 0: not at all, and the attempt is noted, whether or not it
// succeeds: an API server in trouble is asked no more often than a healthy one.
func (p *Pace) Next(key types.NamespacedName, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, ok := p.last[key]; ok {
		if wait := last.Add(MinWriteInterval).Sub(now); wait > 0 {
			return wait
		}
	}
	if p.last == nil {
		p.last = map[types.NamespacedName]time.Time{}
	}
	p.last[key] = now
	return 0
}

// Forget drops an object that is gone.
func (p *Pace) Forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.last, key)
}
