package leader

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// clock is a clock that only moves when a test moves it.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// stubLock answers every write with err.
type stubLock struct {
	resourcelock.Interface
	err error
}

func (l *stubLock) Identity() string { return "me" }
func (l *stubLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	return l.err
}

// leading returns an Elector that has just become the leader.
func leading(t *testing.T) (*Elector, *clock, *recordingLock) {
	t.Helper()
	c := &clock{now: time.Unix(1000, 0)}
	e := &Elector{log: logr.Discard(), now: c.Now}
	lock := &recordingLock{Interface: &stubLock{}, elector: e}
	e.lock = lock
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
		t.Fatal(err)
	}
	e.lead(t.Context())
	return e, c, lock
}

func TestNewLeavesTheConfigAlone(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1", UserAgent: "manager"}
	if _, err := New(config, "ns", "lease", logr.Discard()); err != nil {
		t.Fatal(err)
	}
	if config.Timeout != 0 || config.UserAgent != "manager" {
		t.Errorf("the shared config has timeout %s and user agent %q: every watch would end with it", config.Timeout, config.UserAgent)
	}
}

func TestLeadershipEndsWithTheClockOfTheLastRenewal(t *testing.T) {
	e, c, lock := leading(t)
	c.now = c.now.Add(RenewDeadline - time.Second)
	if !e.Leading() {
		t.Fatal("not leading within the renewal deadline")
	}
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(RenewDeadline - time.Second)
	if !e.Leading() {
		t.Fatal("not leading after a renewal")
	}
	lock.Interface.(*stubLock).err = errors.New("refused")
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err == nil {
		t.Fatal("the refusal is swallowed")
	}
	c.now = c.now.Add(time.Second)
	if e.Leading() {
		t.Error("still leading after the renewal deadline, when another replica may be")
	}
	if _, _, ok := e.Term(t.Context()); ok {
		t.Error("still writing after the renewal deadline")
	}
}

func TestTermEndsBeforeTheLeaseCan(t *testing.T) {
	e, c, _ := leading(t)
	renewed := c.now
	c.now = c.now.Add(RenewDeadline - time.Second)
	term, cancel, ok := e.Term(t.Context())
	if !ok {
		t.Fatal("not leading")
	}
	defer cancel()
	deadline, ok := term.Deadline()
	if !ok || deadline.After(renewed.Add(LeaseDuration)) {
		t.Errorf("a write may last until %s, the lease until %s", deadline, renewed.Add(LeaseDuration))
	}
}

func TestTermOutlivesTheProcessStoppingButNotLeadership(t *testing.T) {
	e := Always(logr.Discard())
	leadership, lose := context.WithCancel(t.Context())
	e.lead(leadership)
	stopping, stop := context.WithCancel(t.Context())
	term, cancel, ok := e.Term(stopping)
	if !ok {
		t.Fatal("not leading")
	}
	defer cancel()
	stop()
	if term.Err() != nil {
		t.Error("a stop aborts the write in flight")
	}
	lose()
	<-term.Done()
	if e.Leading() {
		t.Error("leading without leadership")
	}
}

func TestCancelOfATermEndsIt(t *testing.T) {
	e := Always(logr.Discard())
	e.lead(t.Context())
	term, cancel, _ := e.Term(t.Context())
	cancel()
	if term.Err() == nil {
		t.Error("the term goes on")
	}
}

func TestElectedEnqueuesEachTime(t *testing.T) {
	e := Always(logr.Discard())
	want := reconcile.Request{}
	want.Name = "cluster"
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	src := e.Elected(func(context.Context) []reconcile.Request { return []reconcile.Request{want} })
	if err := src.Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	if queue.Len() != 0 {
		t.Fatal("enqueued before an election")
	}
	for range 2 {
		e.lead(t.Context())
		got, _ := queue.Get()
		queue.Done(got)
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
		e.follow()
	}
}

func TestARenewalAfterTheClockRanOutEnqueuesAnew(t *testing.T) {
	e, c, lock := leading(t)
	enqueued := 0
	e.elected = append(e.elected, func() { enqueued++ })
	renew := func() {
		if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
			t.Fatal(err)
		}
	}
	c.now = c.now.Add(RenewDeadline - time.Second)
	renew()
	if enqueued != 0 {
		t.Fatal("an ordinary renewal enqueues")
	}
	c.now = c.now.Add(RenewDeadline + time.Second)
	if e.Leading() {
		t.Fatal("leading past the deadline")
	}
	renew()
	if !e.Leading() || enqueued != 1 {
		t.Errorf("leading %v, enqueued %d times, want true and once", e.Leading(), enqueued)
	}
}

func TestLossIsReportedOnceForEachTerm(t *testing.T) {
	e := Always(logr.Discard())
	var lost int
	e.OnLost(func() { lost++ })
	e.follow() // never led
	for range 2 {
		e.lead(t.Context())
		e.follow()
	}
	if lost != 2 {
		t.Errorf("called %d times, want 2", lost)
	}
}

func TestALateStartOfAnEndedTermIsIgnored(t *testing.T) {
	e := Always(logr.Discard())
	ended, end := context.WithCancel(t.Context())
	end()
	e.lead(ended)
	if e.Leading() {
		t.Error("leading in a term that has ended")
	}
}
