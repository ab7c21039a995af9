package scrape

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"time"
)

const (
	// allowedFor and deniedFor are how long an answer is given again without asking: so long can a scrape outlive its permission,
	// and a permission wait for its effect.
	allowedFor = 60 * time.Second
	deniedFor  = 10 * time.Second
	// rememberedFor is how long a token that was allowed keeps its place before tokens never seen.
	rememberedFor = 10 * time.Minute
	// reviewTimeout bounds what one token costs, both reviews together.
	reviewTimeout = 5 * time.Second
	// maxAnswers bounds the memory. An answer is some 300 bytes.
	maxAnswers = 1024
)

// errBusy means that the API server was not asked, because it has been asked often enough.
var errBusy = errors.New("too many tokens to check")

// checker answers for tokens, and asks its reviewer as seldom as it can.
type checker struct {
	reviewer reviewer
	budget   *budget
	failed   func(error) // hears of each review that has failed, whether or not somebody still waits for it

	mu      sync.Mutex
	answers map[question]*answer
}

// question is the hash of a token and a path: no token is kept.
type question [sha256.Size]byte

// answer is for whoever asks the same. The fields are set before done is closed and not changed afterwards.
type answer struct {
	done    chan struct{}
	verdict verdict
	err     error
	asked   time.Time
}

func newChecker(r reviewer) *checker {
	return &checker{reviewer: r, budget: newBudget(), failed: func(error) {}, answers: map[question]*answer{}}
}

// check says what to answer to a token that source, an address, has sent. An error means that it is not known, and then
// nobody must be let through.
func (c *checker) check(ctx context.Context, source, token, path string) (verdict, error) {
	a, err := c.find(ctx, time.Now(), source, token, path)
	if err != nil {
		return verdict{}, err
	}
	select {
	case <-a.done:
		return a.verdict, a.err
	case <-ctx.Done():
		return verdict{}, ctx.Err()
	}
}

// find returns the answer that is there, or on its way, or is now asked for.
func (c *checker) find(ctx context.Context, now time.Time, source, token, path string) (*answer, error) {
	key := question(sha256.Sum256([]byte(path + "\x00" + token)))
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.answers[key]
	if before != nil && (!before.ended() || now.Before(before.until())) {
		return before, nil
	}
	wait, ok := c.budget.take(now, source, before.known(now))
	if !ok {
		return nil, errBusy
	}
	c.tidy(now)
	a := &answer{done: make(chan struct{})}
	c.answers[key] = a
	// The request of whoever asks first may end early; the others wait for the same answer.
	go c.ask(context.WithoutCancel(ctx), key, a, before, wait, token, path)
	return a, nil
}

func (c *checker) ask(ctx context.Context, key question, a, before *answer, wait time.Duration, token, path string) {
	time.Sleep(wait)
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	a.asked = time.Now()
	a.verdict, a.err = c.reviewer.review(ctx, token, path)
	if a.err != nil {
		c.failed(a.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.err != nil { // for those who wait now; who comes later asks again
		delete(c.answers, key)
		if before.known(a.asked) {
			c.answers[key] = before
		}
	}
	close(a.done)
}

// tidy drops what nobody needs and, when there is still no room, what ends first.
func (c *checker) tidy(now time.Time) {
	var first question
	var until time.Time
	for key, a := range c.answers {
		if !a.ended() {
			continue
		}
		if !now.Before(a.until()) && !a.known(now) {
			delete(c.answers, key)
			continue
		}
		if until.IsZero() || a.until().Before(until) {
			first, until = key, a.until()
		}
	}
	if len(c.answers) >= maxAnswers {
		delete(c.answers, first)
	}
}

func (a *answer) ended() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

func (a *answer) allowed() bool { return a.err == nil && a.verdict.code == http.StatusOK }

// until is when an answer that has ended is too old to be given again. It counts from before the question was sent.
func (a *answer) until() time.Time {
	if a.allowed() {
		return a.asked.Add(allowedFor)
	}
	return a.asked.Add(deniedFor)
}

// known reports whether the token was let through not long ago.
func (a *answer) known(now time.Time) bool {
	return a != nil && a.ended() && a.allowed() && now.Before(a.asked.Add(rememberedFor))
}
