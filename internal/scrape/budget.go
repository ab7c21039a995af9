package scrape

import (
	"time"

	"golang.org/x/time/rate"
)

// budget limits how often the API server is asked, to at most ten times in any second. Tokens that were allowed recently
// have a share of their own, so that a flood of others cannot lock them out. One address gets only a part of the share of
// the others. A budget is not safe for concurrent use.
type budget struct {
	recent, others *rate.Limiter
	sources        map[string]*rate.Limiter // by address
}

const (
	recentPerSecond = 2 // with a burst of the same size: at most 4 in a second
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
		recent:  rate.NewLimiter(recentPerSecond, recentPerSecond),
		others:  rate.NewLimiter(othersPerSecond, othersPerSecond),
		sources: map[string]*rate.Limiter{},
	}
}

// take returns how long to wait before asking the API server about a token from source, an address. recent says that the
// token was allowed recently. If ok is false, the API server must not be asked.
func (b *budget) take(now time.Time, source string, recent bool) (wait time.Duration, ok bool) {
	share := b.recent
	if !recent {
		if !b.source(source, now).AllowN(now, 1) {
			return 0, false
		}
		share = b.others
	}
	reservation := share.ReserveN(now, 1)
	wait = reservation.DelayFrom(now)
	if wait > maxWait {
		reservation.CancelAt(now)
		return 0, false
	}
	return wait, true
}

// source returns the limiter of an address.
func (b *budget) source(address string, now time.Time) *rate.Limiter {
	if l, ok := b.sources[address]; ok {
		return l
	}
	if len(b.sources) >= maxSources {
		for a, l := range b.sources {
			if l.TokensAt(now) >= sourceBurst { // a new limiter would be the same
				delete(b.sources, a)
			}
		}
	}
	if len(b.sources) >= maxSources {
		clear(b.sources) // the share of all addresses together still limits them
	}
	l := rate.NewLimiter(sourcePerSecond, sourceBurst)
	b.sources[address] = l
	return l
}
