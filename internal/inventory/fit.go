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

// MaxBytes bounds a status as JSON. etcd takes objects of up to 1.5 MiB, and an apply of a larger one is refused whole.
const MaxBytes = 900_000

// conditionsReserve is for what Fit adds to the message of Complete.
const conditionsReserve = 512

// Fit leaves out rows until the status takes at most budget bytes as JSON: ready nodes without warnings first, then ready
// nodes with warnings, then the others, each from the end. NodesOmitted and the condition Complete say so. Totals, products
// and resources stay as they are. A status that fits is returned as it is.
func Fit(s v1.GpuInventoryStatus, budget int) (v1.GpuInventoryStatus, error) {
	fixed := s
	fixed.Nodes = nil
	left, err := json.Marshal(fixed)
	if err != nil {
		return s, fmt.Errorf("encode status: %w", err)
	}
	remaining := budget - len(left) - conditionsReserve
	keep := make([]bool, len(s.Nodes))
	kept := 0
	for _, i := range ByNeed(s.Nodes) {
		row, err := json.Marshal(&s.Nodes[i])
		if err != nil {
			return s, fmt.Errorf("encode row of node %s: %w", s.Nodes[i].Name, err)
		}
		if remaining -= len(row) + len(","); remaining < 0 {
			break
		}
		keep[i] = true
		kept++
	}
	if kept == len(s.Nodes) {
		return s, nil
	}
	nodes := make([]v1.GpuNode, 0, kept)
	for i := range s.Nodes {
		if keep[i] {
			nodes = append(nodes, s.Nodes[i])
		}
	}
	omitted := len(s.Nodes) - kept
	s.Nodes = nodes
	s.NodesOmitted += int32(omitted)
	s.Conditions = slices.Clone(s.Conditions)
	if complete := meta.FindStatusCondition(s.Conditions, v1.ConditionComplete); complete != nil {
		complete.Message = omissionMessage(complete, omitted)
		if complete.Status == metav1.ConditionTrue {
			complete.Status, complete.Reason = metav1.ConditionFalse, v1.ConditionReasonRowsOmitted
		}
	}
	return s, nil
}

func omissionMessage(complete *metav1.Condition, omitted int) string {
	parts := []string{fmt.Sprintf("rows of %s left out to keep the object small, healthy ones first; "+
		"totals, products and resources cover them, an inventory with a nodeSelector shows them", plural(omitted, "node"))}
	if complete.Status != metav1.ConditionTrue {
		parts = append([]string{complete.Message}, parts...)
	}
	return strings.Join(parts, "; ")
}

// ByNeed gives the indexes of nodes, the rows that a reader needs most first and otherwise in their order: nodes that are
// not ready, ready ones with warnings, the others.
func ByNeed(nodes []v1.GpuNode) []int {
	indexes := make([]int, len(nodes))
	for i := range indexes {
		indexes[i] = i
	}
	slices.SortStableFunc(indexes, func(a, b int) int { return cmp.Compare(Need(&nodes[a]), Need(&nodes[b])) })
	return indexes
}

// Need orders rows by how badly a reader needs them: 0 is a node that is not ready, 1 a ready one with warnings, 2 any other.
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
