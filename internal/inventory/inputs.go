package inventory

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// WithMissing sets the condition Complete to False if inputs have not been read. missing says which; nil: none.
func WithMissing(s v1.GpuInventoryStatus, missing error) v1.GpuInventoryStatus {
	if missing == nil {
		return s
	}
	s.Conditions = slices.Clone(s.Conditions)
	complete := meta.FindStatusCondition(s.Conditions, v1.ConditionComplete)
	message := strings.ReplaceAll(missing.Error(), "\n", "; ") // errors.Join has one to a line
	if complete.Status == metav1.ConditionFalse {
		message += "; " + complete.Message
	}
	complete.Status, complete.Reason, complete.Message = metav1.ConditionFalse, v1.ConditionReasonInputsNotSynced, message
	return s
}
