package scrape

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// ask returns the status with which a token is answered, or 0 and the error.
func ask(t *testing.T, c *checker, source, token string) (int, error) {
	t.Helper()
	v, err := c.check(t.Context(), question{source: source, token: token, path: Path})
	return v.code, err
}

func TestAnAnswerIsGivenAgainOnlyForItsTime(t *testing.T) {
	cases := map[string]struct {
		token string
		want  int
		kept  time.Duration
	}{
		"let through":          {"good", http.StatusOK, allowedFor},
		"without a permission": {"other", http.StatusForbidden, deniedFor},
		"nobody's":             {"bad", http.StatusUnauthorized, deniedFor},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reviews := &fakeReviews{}
				c := newChecker(reviews)
				for _, at := range []struct {
					after time.Duration
					asked int
				}{{0, 1}, {tc.kept - time.Millisecond, 1}, {2 * time.Millisecond, 2}} {
					time.Sleep(at.after)
					if code, err := ask(t, c, "a", tc.token); code != tc.want || err != nil {
						t.Errorf("answer %d, %v; want %d", code, err, tc.want)
					}
					if got := reviews.count(); got != at.asked {
						t.Errorf("after %s more: asked %d times, want %d", at.after, got, at.asked)
					}
				}
			})
		})
	}
}

func TestAnAnswerForOnePathIsNoneForAnother(t *testing.T) {
	reviews := &fakeReviews{}
	c := newChecker(reviews)
	for _, path := range []string{"/metrics", "/other"} {
		if _, err := c.check(t.Context(), question{source: "a", token: "good", path: path}); err != nil {
			t.Fatal(err)
		}
	}
	if got := reviews.count(); got != 2 {
		t.Errorf("asked %d times, want once for each path", got)
	}
}

func TestWhoAsksTheSameAtOnceWaitsForOneReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reviews := &fakeReviews{hold: make(chan struct{})}
		c := newChecker(reviews)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if code, err := ask(t, c, "a", "good"); code != http.StatusOK || err != nil {
					t.Errorf("answer %d, %v", code, err)
				}
			})
		}
		synctest.Wait()
		close(reviews.hold)
		all.Wait()
		if got := reviews.count(); got != 1 {
			t.Errorf("asked %d times, want 1", got)
		}
	})
}

func TestNobodyIsLetThroughWhileTheAPIServerCannotBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reviews := &fakeReviews{}
		c := newChecker(reviews)
		if code, _ := ask(t, c, "a", "good"); code != http.StatusOK {
			t.Fatalf("answer %d", code)
		}
		reviews.fail(errAway)
		if _, err := ask(t, c, "b", "new"); !errors.Is(err, errAway) {
			t.Errorf("a new token: error %v, want that of the review", err)
		}
		if code, _ := ask(t, c, "a", "good"); code != http.StatusOK {
			t.Errorf("answer %d within the time of the old one", code)
		}
		time.Sleep(allowedFor)
		if code, err := ask(t, c, "a", "good"); !errors.Is(err, errAway) {
			t.Errorf("answer %d, %v after that time, want the error", code, err)
		}
		time.Sleep(time.Second)
		reviews.fail(nil)
		if code, err := ask(t, c, "a", "good"); code != http.StatusOK || err != nil {
			t.Errorf("answer %d, %v when it is back: an error must not be kept", code, err)
		}
	})
}

func TestAReviewThatHangsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChecker(&fakeReviews{hold: make(chan struct{})})
		began := time.Now()
		if code, err := ask(t, c, "a", "good"); err == nil {
			t.Errorf("answer %d without a review", code)
		}
		if took := time.Since(began); took != reviewTimeout {
			t.Errorf("took %s, want %s", took, reviewTimeout)
		}
	})
}

// Random tokens come from several addresses for three minutes, and the scraper does not notice.
func TestAFloodOfTokensReachesNeitherTheAPIServerNorTheScraper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reviews := &fakeReviews{}
		c := newChecker(reviews)
		if code, _ := ask(t, c, "prometheus", "good"); code != http.StatusOK {
			t.Fatalf("answer %d", code)
		}
		seconds := 180
		for second := range seconds {
			before := reviews.count()
			var flood sync.WaitGroup
			for i := range 200 {
				flood.Go(func() {
					code, err := ask(t, c, fmt.Sprint("attacker-", i%20), fmt.Sprint("random-", second, "-", i))
					if code != http.StatusUnauthorized && !errors.Is(err, errBusy) {
						t.Errorf("a random token is answered %d, %v", code, err)
					}
				})
			}
			synctest.Wait()
			began := time.Now()
			if code, err := ask(t, c, "prometheus", "good"); code != http.StatusOK || err != nil {
				t.Errorf("second %d: the scraper is answered %d, %v", second, code, err)
			}
			if took := time.Since(began); took >= time.Second {
				t.Errorf("second %d: the scraper waited %s", second, took)
			}
			time.Sleep(time.Second - time.Since(began))
			if got := reviews.count() - before; got > 10 {
				t.Errorf("second %d: asked %d times, want at most 10", second, got)
			}
			flood.Wait()
		}
		if got := len(c.answers); got > maxAnswers {
			t.Errorf("%d answers kept, want at most %d", got, maxAnswers)
		}
	})
}

func TestOneAddressCannotTakeTheShareOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChecker(&fakeReviews{})
		for second := range 10 {
			for i := range 200 {
				_, _ = ask(t, c, "attacker", fmt.Sprint("random-", second, "-", i))
			}
			time.Sleep(time.Second)
		}
		for i := range 200 {
			_, _ = ask(t, c, "attacker", fmt.Sprint("last-", i))
		}
		if code, err := ask(t, c, "prometheus", "good"); code != http.StatusOK || err != nil {
			t.Errorf("a scraper that comes during the flood is answered %d, %v", code, err)
		}
	})
}

func TestTheCheckerForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChecker(&fakeReviews{})
		for i := range 100 {
			if _, err := ask(t, c, fmt.Sprint(i), fmt.Sprint("bad-", i)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if got := len(c.answers); got > 12 {
			t.Errorf("%d answers kept, want those of the last %s", got, deniedFor)
		}
	})
}

func TestTheCheckerIsBounded(t *testing.T) {
	now := time.Now()
	c := newChecker(&fakeReviews{})
	done := make(chan struct{})
	close(done)
	for i := range maxAnswers {
		var key answerKey
		key[0], key[1] = byte(i), byte(i>>8)
		c.answers[key] = &answer{done: done, verdict: verdict{code: http.StatusOK}, asked: now.Add(time.Duration(i) * time.Millisecond)}
	}
	c.tidy(now)
	if _, ok := c.answers[answerKey{}]; ok || len(c.answers) != maxAnswers-1 {
		t.Errorf("%d answers kept, the one that ends first among them: %v", len(c.answers), ok)
	}
}

func TestNoQuestionWaitsLongForItsTurn(t *testing.T) {
	now := time.Unix(0, 0)
	b := newBudget()
	for _, recent := range []bool{false, true} {
		turns := 0
		for i := range 100 {
			wait, ok := b.take(now, fmt.Sprint(i), recent)
			if wait > maxWait {
				t.Fatalf("a question waits for %s, want at most %s", wait, maxWait)
			}
			if ok {
				turns++
			}
		}
		if turns == 0 || turns > 6 {
			t.Errorf("%d of 100 questions at once get a turn, want some", turns)
		}
	}
}

func TestTheBudgetIsBounded(t *testing.T) {
	b := newBudget()
	for i := range 3 * maxSources {
		b.take(time.Unix(0, int64(i)), fmt.Sprint(i), false)
		if len(b.sources) > maxSources {
			t.Fatalf("%d addresses kept, want at most %d", len(b.sources), maxSources)
		}
	}
}
