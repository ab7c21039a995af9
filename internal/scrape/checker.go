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
	// allowedFor and deniedFor are how long an answer is reused. A scraper whose permission is taken away can still scrape
	// for allowedFor; one that is given the permission may have to wait for deniedFor.
	allowedFor = 60 * time.Second
	deniedFor  = 10 * time.Second
	// recentFor is how long a token that was allowed takes precedence over other tokens.
	recentFor = 10 * time.Minute
	// reviewTimeout bounds the two reviews of a token together.
	reviewTimeout = 5 * time.Second
	// maxAnswers bounds the memory. An answer takes about 300 bytes.
	maxAnswers = 1024
)

// errBusy means that the API server was not asked, because the budget for questions is used up.
var errBusy = errors.New("too many tokens to check")

// checker decides about tokens, and asks its reviewer as seldom as possible.
type checker struct {
	reviewer reviewer
	budget   *budget
	failed   func(error) // called for each review that fails, even if nobody waits for it any more

	mu      sync.Mutex
	answers map[answerKey]*answer
}

// question asks whether the owner of a token may get a path.
type question struct {
	source string // the address that sent the token
	token  string
	path   string
}

// answerKey is the hash of a token and a path: tokens themselves are not kept.
type answerKey [sha256.Size]byte

func (q question) key() answerKey { return sha256.Sum256([]byte(q.path + "\x00" + q.token)) }

// answer is shared by everyone who asks the same question. Its result is set before done is closed, and not changed later.
type answer struct {
	done    chan struct{}
	verdict verdict
	err     error
	asked   time.Time

	previous *answer // guarded by checker.mu; nil once done is closed
}

func newChecker(r reviewer) *checker {
	return &checker{reviewer: r, budget: newBudget(), failed: func(error) {}, answers: map[answerKey]*answer{}}
}

// check answers a question. On an error the answer is not known, and nobody may be let through.
func (c *checker) check(ctx context.Context, q question) (verdict, error) {
	a, err := c.find(ctx, q)
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

// find returns the kept answer to a question or the one that is already being asked for, or else begins to ask for one.
func (c *checker) find(ctx context.Context, q question) (*answer, error) {
	now, key := time.Now(), q.key()
	c.mu.Lock()
	defer c.mu.Unlock()
	previous := c.answers[key]
	if previous != nil && (!previous.ended() || now.Before(previous.until())) {
		return previous, nil
	}
	wait, ok := c.budget.take(now, q.source, previous.recent(now))
	if !ok {
		return nil, errBusy
	}
	c.tidy(now)
	a := &answer{done: make(chan struct{}), previous: previous}
	c.answers[key] = a
	// The request that asks first may end early; others wait for the same answer.
	ctx = context.WithoutCancel(ctx)
	time.AfterFunc(wait, func() { c.ask(ctx, q, a) })
	return a, nil
}

// ask has the question reviewed and completes its answer.
func (c *checker) ask(ctx context.Context, q question, a *answer) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	a.asked = time.Now()
	a.verdict, a.err = c.reviewer.review(ctx, q.token, q.path)
	if a.err != nil {
		c.failed(a.err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.err != nil { // an error is for those who wait now, and is not kept
		delete(c.answers, q.key())
		if a.previous.recent(a.asked) {
			c.answers[q.key()] = a.previous
		}
	}
	a.previous = nil
	close(a.done)
}

// tidy drops answers that are not needed any more. If there is still no room, it drops the one that expires first.
func (c *checker) tidy(now time.Time) {
	var first answerKey
	var until time.Time
	for key, a := range c.answers {
		if !a.ended() {
			continue
		}
		if !now.Before(a.until()) && !a.recent(now) {
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

// until returns when an answer that has ended expires. The time counts from before the question was sent.
func (a *answer) until() time.Time {
	if a.allowed() {
		return a.asked.Add(allowedFor)
	}
	return a.asked.Add(deniedFor)
}

// recent reports whether the token was allowed recently. a may be nil.
func (a *answer) recent(now time.Time) bool {
	return a != nil && a.ended() && a.allowed() && now.Before(a.asked.Add(recentFor))
}
