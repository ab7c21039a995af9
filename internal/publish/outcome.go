package publish

import (
	"time"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
)

const (
	// settleDelay is how long a reconcile waits for inputs that are being read.
	settleDelay = 100 * time.Millisecond
	// conflictDelay lets the watch deliver the version that a write collided with.
	conflictDelay = 200 * time.Millisecond
	// recomputePeriod is how often an answer is computed from the caches without an event, and written only if it differs. It
	// makes good a lost event, and the time of the last success tells that the operator is alive.
	recomputePeriod = time.Minute
)

// outcome is how a reconcile ended without an error.
type outcome struct {
	// result is one of the results of the package metrics.
	result string
	// again is when to reconcile again; 0: when something happens.
	again time.Duration
}

var (
	// wasWritten: the object was written.
	wasWritten = outcome{metrics.ResultSuccess, recomputePeriod}
	// wasEqual: there was nothing to write.
	wasEqual = outcome{metrics.ResultUnchanged, recomputePeriod}
	// collided: the object had changed since it was read, which is no fault.
	collided = outcome{metrics.ResultConflict, conflictDelay}
	// isGone: the object does not exist.
	isGone = outcome{metrics.ResultUnchanged, 0}
)

// later is the outcome of a reconcile that has to wait.
func later(wait time.Duration) outcome { return outcome{metrics.ResultUnchanged, wait} }
