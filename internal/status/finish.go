package status

import (
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
)

// conflictDelay lets the watch deliver the version that a write collided with.
const conflictDelay = 200 * time.Millisecond

// resyncPeriod is how often an answer is computed anew from the caches without an event, and written only if it differs:
// whatever event was lost is made good, and the time of the last success tells that the operator is alive.
const resyncPeriod = time.Minute

// SettleDelay is how long a reconcile waits for inputs that are being read.
const SettleDelay = 100 * time.Millisecond

// Outcome is how a reconcile ended without an error.
type Outcome struct {
	// Result is one of the results of the package metrics.
	Result string
	// Again is when to reconcile again; 0: when something happens.
	Again time.Duration
}

// Written, Equal, Collided and Gone are outcomes: it was written; there was nothing to write; the object had changed since
// it was read, which is no fault; the object does not exist.
var (
	Written  = Outcome{metrics.ResultSuccess, resyncPeriod}
	Equal    = Outcome{metrics.ResultUnchanged, resyncPeriod}
	Collided = Outcome{metrics.ResultConflict, conflictDelay}
	Gone     = Outcome{metrics.ResultUnchanged, 0}
)

// Later is the outcome of a reconcile that has to wait before it may write again.
func Later(wait time.Duration) Outcome { return Outcome{metrics.ResultUnchanged, wait} }

// Finish counts the end of a reconcile and says what comes next; an error is retried with backoff.
func Finish(m *metrics.Recorder, controller string, o Outcome, err error, now time.Time) (ctrl.Result, error) {
	if err != nil {
		m.Reconciled(controller, metrics.ResultError)
		return ctrl.Result{}, err
	}
	m.Reconciled(controller, o.Result)
	if o == Written || o == Equal {
		m.Succeeded(now)
	}
	return ctrl.Result{RequeueAfter: o.Again}, nil
}
