// Package leader elects the one replica that writes. A replica that loses the Lease stops writing and tries to get it
// again. It keeps its process and its caches, so that nothing restarts when the API server is away for a minute.
//
// The election of the manager is not used, because it ends the process. Leadership ends when the last successful renewal
// is too old, and not only when the elector's callback says so: while the API server hangs, another replica may take over
// before that callback comes.
package leader

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Timings of the Lease. They are the defaults of the Kubernetes control plane. Another replica takes over within 5 s of a
// clean stop and within 25 s of a crash.
const (
	LeaseDuration = 15 * time.Second
	RenewDeadline = 10 * time.Second
	RetryPeriod   = 2 * time.Second
)

// WriteTimeout bounds every write, so that a request that hangs cannot block a reconciler.
const WriteTimeout = 10 * time.Second

// Elector holds or seeks leadership. Use New or Always to create one.
type Elector struct {
	lock resourcelock.Interface
	log  logr.Logger
	now  func() time.Time

	mu      sync.Mutex
	term    context.Context // ends with leadership; nil while this replica does not lead
	renewed time.Time       // when the last successful renewal was sent; zero without a Lease
	elected []func()        // called when leadership begins
	lost    []func()        // called when it ends
}

// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=gpu-inventory,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=gpu-inventory,resources=leases,resourceNames=gpu-inventory-operator,verbs=get;update

// New returns an Elector for the Lease namespace/name. It has a client of its own, so that other requests cannot delay
// renewals. The timeout of that client is short, so that one hanging request does not lose the Lease.
func New(config *rest.Config, namespace, name string, log logr.Logger) (*Elector, error) {
	config = rest.AddUserAgent(rest.CopyConfig(config), "leader-election") // a copy, because AddUserAgent changes its argument
	config.Timeout = RenewDeadline / 2
	client, err := coordinationv1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create lease client: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read host name: %w", err)
	}
	e := &Elector{log: log, now: time.Now}
	e.lock = &recordingLock{elector: e, Interface: &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}}
	return e, nil
}

// Always returns an Elector for a single replica, which has no Lease and leads for as long as Run runs.
func Always(log logr.Logger) *Elector { return &Elector{log: log, now: time.Now} }

// Run seeks leadership until ctx ends, and then releases the Lease. Call it outside the manager, and end ctx only after the
// reconcilers have stopped, so that the write in flight is finished before another replica begins to write.
func (e *Elector) Run(ctx context.Context) error {
	if e.lock == nil {
		e.lead(ctx)
		<-ctx.Done()
		e.follow()
		return nil
	}
	ctx = logr.NewContext(ctx, e.log)
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Name: e.lock.Describe(), Lock: e.lock, ReleaseOnCancel: true,
			LeaseDuration: LeaseDuration, RenewDeadline: RenewDeadline, RetryPeriod: RetryPeriod,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: e.lead, OnStoppedLeading: e.follow},
		})
		if err != nil {
			return fmt.Errorf("create leader elector: %w", err)
		}
		elector.Run(ctx)
	}
	return nil
}

// Leading reports whether this replica may write and expose the inventory now.
func (e *Elector) Leading() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.leading()
}

func (e *Elector) leading() bool {
	if e.term == nil || e.term.Err() != nil {
		return false
	}
	return e.lock == nil || e.now().Sub(e.renewed) < RenewDeadline
}

// Term returns the context for a write: it ends with leadership, before another replica may take the Lease, or after
// WriteTimeout. It does not end with ctx, so that a stopping process finishes its write. ok is false while this replica
// does not lead.
func (e *Elector) Term(ctx context.Context) (_ context.Context, _ context.CancelFunc, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.leading() {
		return nil, nil, false
	}
	deadline := e.now().Add(WriteTimeout)
	if e.lock != nil {
		if expiry := e.renewed.Add(LeaseDuration); expiry.Before(deadline) {
			deadline = expiry
		}
	}
	term, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	stop := context.AfterFunc(e.term, cancel)
	return term, func() { stop(); cancel() }, true
}

// Elected returns a source that enqueues what requests returns each time this replica becomes the leader. Its caches have
// followed what happened while another replica led, but nothing here has acted on it.
func (e *Elector) Elected(requests func(context.Context) []reconcile.Request) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		enqueue := func() {
			for _, r := range requests(ctx) {
				queue.Add(r)
			}
		}
		e.OnElected(enqueue)
		return nil
	})
}

// OnElected calls f each time this replica becomes the leader, and at once if it already is.
func (e *Elector) OnElected(f func()) {
	e.mu.Lock()
	e.elected = append(e.elected, f)
	leading := e.leading()
	e.mu.Unlock()
	if leading {
		f()
	}
}

// OnLost calls f each time leadership ends. Call it before Run.
func (e *Elector) OnLost(f func()) { e.lost = append(e.lost, f) }

func (e *Elector) lead(term context.Context) {
	e.mu.Lock()
	if term.Err() != nil { // the elector calls lead from a goroutine, which may be late
		e.mu.Unlock()
		return
	}
	e.term = term
	elected := slices.Clone(e.elected)
	e.mu.Unlock()
	e.log.Info("Leading")
	for _, enqueue := range elected {
		enqueue()
	}
}

func (e *Elector) follow() {
	e.mu.Lock()
	led := e.term != nil
	e.term, e.renewed = nil, time.Time{}
	e.mu.Unlock()
	if !led {
		return
	}
	e.log.Info("Stopped leading")
	for _, f := range e.lost {
		f()
	}
}

// recordingLock is a lock that tells its Elector when the Lease was last renewed.
type recordingLock struct {
	resourcelock.Interface
	elector *Elector
}

func (l *recordingLock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.record(r, func() error { return l.Interface.Create(ctx, r) })
}

func (l *recordingLock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	return l.record(r, func() error { return l.Interface.Update(ctx, r) })
}

func (l *recordingLock) record(r resourcelock.LeaderElectionRecord, write func() error) error {
	began := l.elector.now() // earlier than the time from which the other replicas count
	if err := write(); err != nil {
		return err
	}
	if r.HolderIdentity == l.Identity() {
		l.elector.renewedAt(began)
	}
	return nil
}

// renewedAt records a successful renewal. If leadership had ended by the clock, but not yet for the elector, it begins again,
// and the functions of OnElected are called, because writes were refused in the meantime.
func (e *Elector) renewedAt(began time.Time) {
	e.mu.Lock()
	var again []func()
	if e.term != nil && e.term.Err() == nil && !e.leading() {
		again = slices.Clone(e.elected)
	}
	e.renewed = began
	e.mu.Unlock()
	for _, enqueue := range again {
		enqueue()
	}
}
