package inventory

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Next returns the status to store: what was found, stamped for a generation. Times move only for a cause: a condition keeps its
// transition time while its status stays, and observedAt stays while the content does. changed reports whether anything but
// times differs from what is stored. If it is false, there is nothing to write.
func Next(stored, found v1.GpuInventoryStatus, generation int64, now time.Time) (next v1.GpuInventoryStatus, changed bool) {
	next = found
	next.ObservedGeneration = generation
	next.Conditions = make([]metav1.Condition, 0, len(found.Conditions))
	at := metav1.NewTime(now.UTC().Truncate(time.Second)) // what the API server will store
	for _, c := range found.Conditions {
		c.ObservedGeneration = generation
		c.Message = Clip(c.Message, maxConditionMessage)
		c.LastTransitionTime = at
		if old := meta.FindStatusCondition(stored.Conditions, c.Type); old != nil && old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		next.Conditions = append(next.Conditions, c)
	}
	if stored.ObservedAt != nil && equality.Semantic.DeepEqual(content(stored), content(next)) {
		next.ObservedAt = stored.ObservedAt
	} else {
		next.ObservedAt = &at
	}
	return next, !equality.Semantic.DeepEqual(withoutTimes(stored), withoutTimes(next))
}

// content returns what a status says about the fleet.
func content(s v1.GpuInventoryStatus) v1.GpuInventoryStatus {
	s = withoutTimes(s)
	s.ObservedGeneration = 0
	for i := range s.Conditions {
		s.Conditions[i].ObservedGeneration = 0
	}
	return s
}

// withoutTimes returns the status without the times that a write sets. If times were compared, the operator would wake itself
// with its own writes.
func withoutTimes(s v1.GpuInventoryStatus) v1.GpuInventoryStatus {
	s.ObservedAt = nil
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		s.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	return s
}
