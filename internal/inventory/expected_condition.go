package inventory

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// WithExpected adds the condition AsExpected, and returns the state of each pool. Without pools it changes nothing. status must
// still have every row. Where nothing was counted, or an input is missing, the condition is Unknown and there are no states.
func WithExpected(status v1.GpuInventoryStatus, pools []v1.ExpectedPool, labelsOf func(node string) map[string]string) (v1.GpuInventoryStatus, []PoolState) {
	if len(pools) == 0 {
		return status, nil
	}
	var states []PoolState
	c := metav1.Condition{Type: v1.ConditionAsExpected, Status: metav1.ConditionUnknown, Reason: v1.ConditionReasonInputsNotSynced, Message: "nothing was counted"}
	complete := meta.FindStatusCondition(status.Conditions, v1.ConditionComplete)
	switch {
	case status.TotalGpuNodes != nil && (complete == nil || complete.Reason != v1.ConditionReasonInputsNotSynced):
		compared := comparePools(pools, status.Nodes, labelsOf)
		for i := range compared {
			states = append(states, compared[i].state())
		}
		c = asExpected(compared)
	case complete != nil:
		c.Reason, c.Message = complete.Reason, complete.Message
	}
	status.Conditions = append(slices.Clone(status.Conditions), c)
	return status, states
}

// asExpected returns the condition AsExpected. What is known to be missed comes before what is not known.
func asExpected(compared []comparison) metav1.Condition {
	var missed, invalid, unknown, met []string
	for i := range compared {
		p := &compared[i]
		switch {
		case p.invalid != nil:
			invalid = append(invalid, p.String())
		case p.missed():
			missed = append(missed, p.String())
		case p.uncertain():
			unknown = append(unknown, p.String())
		default:
			met = append(met, p.String())
		}
	}
	c := metav1.Condition{Type: v1.ConditionAsExpected}
	say := func(status metav1.ConditionStatus, reason string, pools ...string) metav1.Condition {
		c.Status, c.Reason = status, reason
		c.Message = strings.Join(pools, "; ")
		return c
	}
	switch {
	case len(missed) > 0:
		return say(metav1.ConditionFalse, v1.ConditionReasonExpectationMissed, slices.Concat(missed, invalid, unknown)...)
	case len(invalid) > 0:
		return say(metav1.ConditionUnknown, v1.ConditionReasonInvalidSelector, slices.Concat(invalid, unknown)...)
	case len(unknown) > 0:
		return say(metav1.ConditionUnknown, v1.ConditionReasonFactsUnknown, unknown...)
	default:
		return say(metav1.ConditionTrue, v1.ConditionReasonExpectationMet, met...)
	}
}
