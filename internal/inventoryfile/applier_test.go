package inventoryfile

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/leader"
)

// fakeWriter answers each patch with err.
type fakeWriter struct {
	client.Writer
	mu      sync.Mutex
	err     error
	patched []time.Time
}

func (f *fakeWriter) Patch(_ context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.patched = append(f.patched, time.Now())
	var o client.PatchOptions
	o.ApplyOptions(opts)
	body, err := patch.Data(obj)
	if err != nil || obj.GetName() != "cluster" || string(body) != "{}" || o.FieldManager != FieldOwner || o.Force == nil || !*o.Force {
		return errors.New("another patch than expected")
	}
	return f.err
}

func (f *fakeWriter) answer(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *fakeWriter) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.patched)
}

type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, args)
	}, funcr.Options{})
}

func (l *logged) with(message string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(strings.Join(l.lines, "\n"), message)
}

func newApplier(w client.Writer, log logr.Logger) *Applier {
	return &Applier{Client: w, Leader: leader.Always(logr.Discard()), Manifest: &Manifest{Path: "/f.yaml", Name: "cluster", Body: []byte("{}")}, Log: log}
}

// lead begins a term and returns a function that ends it.
func lead(t *testing.T, a *Applier) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = a.Leader.Run(ctx) // which returns no error without a Lease
	}()
	synctest.Wait()
	return func() { cancel(); <-ended }
}

func TestTheManifestIsAppliedOncePerTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWriter{}
		a := newApplier(w, logr.Discard())
		go func() { _ = a.Start(t.Context()) }()
		time.Sleep(time.Hour)
		if w.count() != 0 || a.Ready() != nil {
			t.Errorf("a standby has applied %d times and is ready: %v", w.count(), a.Ready())
		}
		for term := 1; term <= 3; term++ {
			end := lead(t, a)
			time.Sleep(time.Hour)
			if w.count() != term || a.Ready() != nil {
				t.Errorf("in term %d: applied %d times, ready: %v", term, w.count(), a.Ready())
			}
			end()
		}
	})
}

func TestAnApplyThatFailsIsTriedAgainMoreAndMoreSeldomAndLoggedOnce(t *testing.T) {
	gr := schema.GroupResource{Group: "homelab.youngju.dev", Resource: "gpuinventories"}
	cases := map[string]struct {
		err  error
		says string
	}{
		"a CRD that was never there": {&meta.NoKindMatchError{}, "the GpuInventory CRD is not installed"},
		"a CRD that has gone":        {apierrors.NewNotFound(gr, "cluster"), "the GpuInventory CRD is not installed"},
		"a permission that is missing": {
			apierrors.NewForbidden(gr, "cluster", errors.New("no rule")), "needs create and patch on the GpuInventory of this name"},
		"a value that is invalid": {
			apierrors.NewInvalid(schema.GroupKind{Kind: "GpuInventory"}, "cluster", nil), "correct the file and restart"},
		"an API server that is away": {errors.New("connection refused"), "connection refused"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &fakeWriter{err: tc.err}
				var log logged
				a := newApplier(w, log.logger())
				go func() { _ = a.Start(t.Context()) }()
				synctest.Wait()
				defer lead(t, a)()
				time.Sleep(10*time.Minute + time.Millisecond)
				if got := w.count(); got < 20 || got > 26 {
					t.Errorf("tried %d times in 10 minutes, want some 20: every 30 s in the end", got)
				}
				if got := log.with("trying again"); got != 1 {
					t.Errorf("logged %d times, want once: %q", got, log.lines)
				}
				if err := a.Ready(); err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "/f.yaml") {
					t.Errorf("Ready() = %v, want it to say %q and the file", err, tc.says)
				}
				w.answer(nil)
				time.Sleep(maxRetry)
				synctest.Wait()
				if err := a.Ready(); err != nil || log.with("Applied") != 1 {
					t.Errorf("Ready() = %v after it has been mended; log: %q", err, log.lines)
				}
			})
		})
	}
}

func TestAnErrorOfAnotherKindIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWriter{err: errors.New("dial tcp 127.0.0.1:40001: refused")}
		var log logged
		a := newApplier(w, log.logger())
		go func() { _ = a.Start(t.Context()) }()
		synctest.Wait()
		defer lead(t, a)()
		w.answer(errors.New("dial tcp 127.0.0.1:40002: refused"))
		time.Sleep(time.Minute)
		if got := log.with("trying again"); got != 1 {
			t.Errorf("logged %d times, want once: another port is not another kind of error", got)
		}
		w.answer(&meta.NoKindMatchError{})
		time.Sleep(time.Minute)
		if got := log.with("trying again"); got != 2 {
			t.Errorf("logged %d times, want twice: %q", got, log.lines)
		}
	})
}

func TestATermThatEndsEndsTheTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWriter{err: errors.New("refused")}
		a := newApplier(w, logr.Discard())
		go func() { _ = a.Start(t.Context()) }()
		synctest.Wait()
		end := lead(t, a)
		time.Sleep(time.Minute)
		end()
		tries := w.count()
		time.Sleep(time.Hour)
		if w.count() != tries || a.Ready() != nil {
			t.Errorf("tried %d times after the term; ready: %v", w.count()-tries, a.Ready())
		}
	})
}

func TestATermThatBeginsDuringTheWaitBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWriter{err: errors.New("connection refused")}
		a := newApplier(w, logr.Discard())
		go func() { _ = a.Start(t.Context()) }()
		synctest.Wait()
		end := lead(t, a)
		time.Sleep(5*time.Minute + 10*time.Second) // by now it is tried every 30 s, and was some seconds ago
		end()
		w.answer(nil)
		tried := w.count()
		defer lead(t, a)()
		time.Sleep(2 * minRetry)
		if err := a.Ready(); err != nil || w.count() != tried+1 {
			t.Errorf("in the new term: applied %d times, ready: %v; want once and at once", w.count()-tried, err)
		}
		time.Sleep(time.Hour)
		if w.count() != tried+1 {
			t.Errorf("applied %d times in one term", w.count()-tried)
		}
	})
}
