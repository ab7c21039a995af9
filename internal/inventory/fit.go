package inventory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// MaxBytes bounds a status as JSON. etcd takes objects of up to 1.5 MiB, and refuses a larger one whole.
const MaxBytes = 900_000

// conditionsReserve is for what Fit adds to the message of Complete.
const conditionsReserve = 512

// Fit leaves out rows until the status takes at most budget bytes as JSON: first ready nodes without warnings, then ready
// nodes with warnings, then the others, each from the end. NodesOmitted and the condition Complete say so. Totals stay as
// they are, products and resources too unless there are more than the API accepts. A status that fits is returned as it is.
func Fit(s v1.GpuInventoryStatus, budget int) (v1.GpuInventoryStatus, error) {
	var omissions []string
	if text := boundSummaries(&s); text != "" {
		omissions = append(omissions, text)
	}
	fixed := s
	fixed.Nodes = nil
	left, err := json.Marshal(fixed)
	if err != nil {
		return s, fmt.Errorf("encode status: %w", err)
	}
	kept, err := mostNeeded(s.Nodes, budget-len(left)-conditionsReserve)
	if err != nil {
		return s, err
	}
	if omitted := len(s.Nodes) - len(kept); omitted > 0 {
		omissions = append(omissions, fmt.Sprintf("rows of %s left out to keep the object small, healthy ones first; "+
			"totals, products and resources cover them, an inventory with a nodeSelector shows them", plural(omitted, "node")))
		s.Nodes = kept
		s.NodesOmitted += int32(omitted)
	}
	if len(omissions) > 0 {
		s.Conditions = slices.Clone(s.Conditions)
		reportOmissions(meta.FindStatusCondition(s.Conditions, v1.ConditionComplete), omissions)
	}
	return s, nil
}

// mostNeeded returns the most needed rows that fit into budget bytes as JSON, in the order of nodes.
func mostNeeded(nodes []v1.GpuNode, budget int) ([]v1.GpuNode, error) {
	keep := make([]bool, len(nodes))
	for _, i := range ByNeed(nodes) {
		row, err := json.Marshal(&nodes[i])
		if err != nil {
			return nil, fmt.Errorf("encode row of node %s: %w", nodes[i].Name, err)
		}
		if budget -= len(row) + len(","); budget < 0 {
			break
		}
		keep[i] = true
	}
	kept := make([]v1.GpuNode, 0, len(nodes))
	for i := range nodes {
		if keep[i] {
			kept = append(kept, nodes[i])
		}
	}
	return kept, nil
}

func reportOmissions(complete *metav1.Condition, omissions []string) {
	if complete == nil {
		return
	}
	if complete.Status == metav1.ConditionTrue {
		complete.Status, complete.Reason = metav1.ConditionFalse, v1.ConditionReasonRowsOmitted
	} else {
		omissions = append([]string{complete.Message}, omissions...)
	}
	complete.Message = strings.Join(omissions, "; ")
}

// ByNeed returns the indexes of nodes, sorted by Need and otherwise in their order.
func ByNeed(nodes []v1.GpuNode) []int {
	indexes := make([]int, len(nodes))
	for i := range indexes {
		indexes[i] = i
	}
	slices.SortStableFunc(indexes, func(a, b int) int { return cmp.Compare(Need(&nodes[a]), Need(&nodes[b])) })
	return indexes
}

// Need returns how soon a row can be left out: 0 for a node that is not ready, which a reader needs most, 1 for a ready one with
// warnings, 2 for any other.
func Need(n *v1.GpuNode) int {
	switch {
	case !n.Ready:
		return 0
	case len(n.Warnings) > 0:
		return 1
	default:
		return 2
	}
}
