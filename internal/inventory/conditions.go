package inventory

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// namedFirst is how many nodes a message names before it only counts: enough to start with, short enough to read.
const namedFirst = 5

// healthy returns the condition Healthy: every GPU node ready, every known GPU allocatable.
func healthy(s *v1.GpuInventoryStatus) metav1.Condition {
	var notReady, impaired []string
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch {
		case !n.Ready:
			notReady = append(notReady, fmt.Sprintf("%s %s", n.Name, n.Reason))
		case withdrawnUnits(n) > 0:
			impaired = append(impaired, fmt.Sprintf("%s %d of %d units", n.Name, withdrawnUnits(n), totalUnits(n)))
		}
	}
	c := metav1.Condition{Type: v1.ConditionHealthy, Status: metav1.ConditionFalse}
	switch {
	case len(s.Nodes) == 0:
		c.Status, c.Reason = metav1.ConditionTrue, v1.ConditionReasonNoGpuNodes
		c.Message = "no Node shows any evidence of a GPU; if there should be one, see which labels and resources it has"
	case len(notReady) > 0:
		c.Reason = v1.ConditionReasonNodesNotReady
		c.Message = fmt.Sprintf("%d of %s not ready: %s", len(notReady), plural(len(s.Nodes), "GPU node"), firstFew(notReady))
		if len(impaired) > 0 {
			c.Message += "; GPUs not allocatable on ready nodes: " + firstFew(impaired)
		}
	case len(impaired) > 0:
		c.Reason = v1.ConditionReasonGpusUnhealthy
		c.Message = "all GPU nodes ready; GPUs not allocatable: " + firstFew(impaired)
	default:
		c.Status, c.Reason = metav1.ConditionTrue, v1.ConditionReasonAllReady
		c.Message = "every GPU node is ready and every known GPU is allocatable"
	}
	return c
}

// complete returns the condition Complete: every GPU node's product and count read from a live source.
func complete(s *v1.GpuInventoryStatus) metav1.Condition {
	var count, product, stale []string
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.GpuCount == nil {
			count = append(count, n.Name)
		}
		if productUnknown(n) {
			product = append(product, n.Name)
		}
		if hasSource(n, v1.SourceLastKnown) {
			stale = append(stale, n.Name)
		}
	}
	var parts []string
	for _, p := range []struct {
		what  string
		nodes []string
	}{{"GPU count unknown", count}, {"product unknown", product}, {"facts are last-known ones", stale}} {
		if len(p.nodes) > 0 {
			parts = append(parts, fmt.Sprintf("%s on %s: %s", p.what, plural(len(p.nodes), "node"), firstFew(p.nodes)))
		}
	}
	if len(parts) > 0 {
		return metav1.Condition{
			Type: v1.ConditionComplete, Status: metav1.ConditionFalse,
			Reason: v1.ConditionReasonFactsUnknown, Message: strings.Join(parts, "; "),
		}
	}
	return metav1.Condition{
		Type: v1.ConditionComplete, Status: metav1.ConditionTrue,
		Reason: v1.ConditionReasonAllRead, Message: "the product and the count of every GPU node were read from a live source",
	}
}

// Unusable returns the status of an inventory whose spec cannot be used. It has no counts, because nothing was counted, and
// conditions that say why.
func Unusable(reason, message string) v1.GpuInventoryStatus {
	unknown := func(t string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: t, Status: status, Reason: reason, Message: message}
	}
	return v1.GpuInventoryStatus{Conditions: []metav1.Condition{
		unknown(v1.ConditionHealthy, metav1.ConditionUnknown),
		unknown(v1.ConditionComplete, metav1.ConditionFalse),
	}}
}

// withdrawnUnits returns how many units the node has and does not offer.
func withdrawnUnits(n *v1.GpuNode) (withdrawn int64) {
	for _, r := range n.Resources {
		withdrawn = addUnits(withdrawn, max(r.Capacity-r.Allocatable, 0))
	}
	return withdrawn
}

func totalUnits(n *v1.GpuNode) (capacity int64) {
	for _, r := range n.Resources {
		capacity = addUnits(capacity, r.Capacity)
	}
	return capacity
}

func productUnknown(n *v1.GpuNode) bool {
	for _, g := range n.Gpus {
		if g.Product == "" {
			return true
		}
	}
	return len(n.Gpus) == 0
}

func hasSource(n *v1.GpuNode, source v1.Source) bool {
	for _, g := range n.Gpus {
		if g.Source == source {
			return true
		}
	}
	return false
}

// firstFew names the first few items and counts the rest.
func firstFew(items []string) string {
	if len(items) <= namedFirst {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:namedFirst], ", "), len(items)-namedFirst)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
