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

// resultGone ends a reconcile of an object that does not exist.
const resultGone = "gone"

// Finish counts the end of a reconcile and says what comes next: an error is retried with backoff, a conflict, which is
// no fault, shortly.
func Finish(m *metrics.Recorder, controller, result string, err error, now time.Time) (ctrl.Result, error) {
	switch {
	case err != nil:
		m.Reconciled(controller, metrics.ResultError)
		return ctrl.Result{}, err
	case result == resultGone:
		m.Reconciled(controller, metrics.ResultUnchanged)
		return ctrl.Result{}, nil
	case result == metrics.ResultConflict:
		m.Reconciled(controller, result)
		return ctrl.Result{RequeueAfter: conflictDelay}, nil
	default:
		m.Reconciled(controller, result)
		m.Succeeded(now)
		return ctrl.Result{RequeueAfter: resyncPeriod}, nil
	}
}
