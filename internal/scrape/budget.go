package scrape

import (
	"time"

	"golang.org/x/time/rate"
)

// budget bounds how often the API server is asked, to at most ten times in any second. Tokens that were let through not
// long ago have a share of their own, so that a flood of others cannot lock them out; one address has only a part of the
// share of the others. A budget is not safe for concurrent use.
type budget struct {
	known, others *rate.Limiter
	sources       map[string]*rate.Limiter
}

const (
	knownPerSecond  = 2 // and as many at once: at most 4 in a second
	othersPerSecond = 3 // at most 6 in a second
	sourcePerSecond = 1
	sourceBurst     = 2
	// maxWait is how long a question may wait for its turn.
	maxWait = time.Second
	// maxSources bounds the memory.
	maxSources = 1024
)

func newBudget() *budget {
	return &budget{
		known:   rate.NewLimiter(knownPerSecond, knownPerSecond),
		others:  rate.NewLimiter(othersPerSecond, othersPerSecond),
		sources: map[string]*rate.Limiter{},
	}
}

// take returns how long to wait before asking; not ok: not to ask.
func (b *budget) take(now time.Time, source string, known bool) (time.Duration, bool) {
	share := b.known
	if !known {
		if !b.source(source, now).AllowN(now, 1) {
			return 0, false
		}
		share = b.others
	}
	reservation := share.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > maxWait {
		reservation.CancelAt(now)
		return 0, false
	}
	return wait, true
}

func (b *budget) source(address string, now time.Time) *rate.Limiter {
	if l, ok := b.sources[address]; ok {
		return l
	}
	if len(b.sources) >= maxSources {
		for a, l := range b.sources {
			if l.TokensAt(now) >= sourceBurst { // it asks as seldom as one that was never seen
				delete(b.sources, a)
			}
		}
	}
	if len(b.sources) >= maxSources {
		clear(b.sources) // the share of all still holds
	}
	l := rate.NewLimiter(sourcePerSecond, sourceBurst)
	b.sources[address] = l
	return l
}
