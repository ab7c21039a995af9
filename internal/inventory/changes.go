package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Change is one thing that a person may want to hear about, in the words of an Event.
type Change struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type string
	// Reason is one of the Event reasons of the API.
	Reason string
	// Node is the Node that has changed; empty for a change of many nodes.
	Node string
	// Message says what changed, from what to what.
	Message string
	// Action distinguishes changes of one kind on one node. The API server only counts an Event whose reason, node and action
	// equal those of an earlier one, so the text of a second, different change would be lost.
	Action string
}

// Changes returns what a person may want to hear about between two statuses, sorted by reason and node. Every node is new when
// before has never been written. Equal statuses give no changes, so a restart reports nothing.
func Changes(before, after *v1.GpuInventoryStatus) []Change {
	old := make(map[string]*v1.GpuNode, len(before.Nodes))
	for i := range before.Nodes {
		old[before.Nodes[i].Name] = &before.Nodes[i]
	}
	var out []Change
	for i := range after.Nodes {
		n := &after.Nodes[i]
		was, ok := old[n.Name]
		delete(old, n.Name)
		if ok {
			out = append(out, nodeChanges(was, n)...)
			continue
		}
		// Where rows were left out to save space, a node that was not listed need not be new.
		if before.NodesOmitted == 0 {
			out = append(out, normal(v1.EventGpuNodeAdded, n.Name, "%s: %s", n.Name, Describe(n)))
		}
		if !n.Ready {
			out = append(out, warning(v1.EventGpuNodeNotReady, n.Name, "%s is not ready: %s", n.Name, reasonText(n)).as("%s", n.Reason))
		}
	}
	if after.NodesOmitted == 0 {
		for name, n := range old {
			out = append(out, normal(v1.EventGpuNodeRemoved, name, "%s: %s", name, Describe(n)))
		}
	}
	out = append(out, expectationChanges(before, after)...)
	slices.SortStableFunc(out, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Node, b.Node))
	})
	return out
}

// nodeChanges compares two readings of one node.
func nodeChanges(was, is *v1.GpuNode) []Change {
	return slices.Concat(readyChanges(was, is), countChanges(was, is), sourceChanges(was, is), healthChanges(was, is))
}

// expectationChanges reports that what was found has become, or is no longer, what was declared. It reports nothing for an
// inventory that is as expected from the start.
func expectationChanges(before, after *v1.GpuInventoryStatus) []Change {
	was, is := meta.FindStatusCondition(before.Conditions, v1.ConditionAsExpected), meta.FindStatusCondition(after.Conditions, v1.ConditionAsExpected)
	switch {
	case is == nil || was != nil && was.Status == is.Status:
		return nil
	case is.Status == metav1.ConditionFalse:
		return []Change{warning(v1.EventExpectationMissed, "", "%s", is.Message)}
	case is.Status == metav1.ConditionTrue && was != nil:
		return []Change{normal(v1.EventExpectationMet, "", "%s", is.Message)}
	default:
		return nil
	}
}

// sourceChanges reports that product or count can no longer be read, or can be read again. Nothing is lost when the number
// of GPUs is hidden because somebody changed how they are divided.
func sourceChanges(was, is *v1.GpuNode) []Change {
	before, now := readLive(was), readLive(is)
	switch {
	case before == now || !productUnknown(was) && !productUnknown(is) && layout(was) != layout(is):
		return nil
	case now:
		return []Change{normal(v1.EventGpuFactsRestored, is.Name, "%s: %s", is.Name, Describe(is))}
	case hasSource(is, v1.SourceLastKnown):
		return []Change{warning(v1.EventGpuFactsLost, is.Name, "%s: no longer readable, last known: %s", is.Name, Describe(is))}
	default:
		return []Change{warning(v1.EventGpuFactsLost, is.Name, "%s: %s; it was %s", is.Name, Describe(is), Describe(was))}
	}
}

// layout returns how a node's GPUs are divided.
func layout(n *v1.GpuNode) string {
	parts := []string{string(n.Sharing)}
	for _, g := range n.Gpus {
		parts = append(parts, g.Variant)
	}
	return strings.Join(parts, " ")
}

func readyChanges(was, is *v1.GpuNode) []Change {
	switch {
	case is.Ready && !was.Ready:
		return []Change{normal(v1.EventGpuNodeReady, is.Name, "%s is ready again; it was %s", is.Name, was.Reason)}
	case !is.Ready && (was.Ready || was.Reason != is.Reason):
		return []Change{warning(v1.EventGpuNodeNotReady, is.Name, "%s is not ready: %s", is.Name, reasonText(is)).as("%s", is.Reason)}
	default:
		return nil
	}
}

func countChanges(was, is *v1.GpuNode) []Change {
	switch {
	case was.GpuCount == nil || is.GpuCount == nil || *was.GpuCount == *is.GpuCount:
		return nil
	case *is.GpuCount < *was.GpuCount:
		return []Change{warning(v1.EventGpuCountDropped, is.Name, "%s has %d GPUs; it had %d", is.Name, *is.GpuCount, *was.GpuCount).as("From%dTo%d", *was.GpuCount, *is.GpuCount)}
	default:
		return []Change{normal(v1.EventGpuCountIncreased, is.Name, "%s has %d GPUs; it had %d", is.Name, *is.GpuCount, *was.GpuCount).as("From%dTo%d", *was.GpuCount, *is.GpuCount)}
	}
}

// healthChanges reports withdrawn units of a ready node. A node that is not ready has its own Event, and its units mean little:
// they are frozen, or 0 because the plugin has gone.
func healthChanges(was, is *v1.GpuNode) []Change {
	before, now := withdrawnUnits(was), withdrawnUnits(is)
	switch {
	case !is.Ready || before == now || !was.Ready && now == 0:
		return nil
	case now > before || !was.Ready:
		return []Change{warning(v1.EventGpusUnhealthy, is.Name, "%s: %d of %d GPU units are not allocatable", is.Name, now, totalUnits(is)).as("From%dTo%d", before, now)}
	case now == 0:
		return []Change{normal(v1.EventGpusHealthy, is.Name, "%s: all %d GPU units are allocatable again", is.Name, totalUnits(is))}
	default:
		return []Change{normal(v1.EventGpusHealthy, is.Name, "%s: %d of %d GPU units are not allocatable; it was %d", is.Name, now, totalUnits(is), before).as("From%dTo%d", before, now)}
	}
}

// readLive reports whether the node's product and count are both read from a live source.
func readLive(n *v1.GpuNode) bool {
	return n.GpuCount != nil && !productUnknown(n) && !hasSource(n, v1.SourceLastKnown)
}

// Describe returns a node's GPUs as text: "8 x nvidia NVIDIA-H100-80GB-HBM3".
func Describe(n *v1.GpuNode) string {
	if len(n.Gpus) == 0 {
		return "GPUs unknown"
	}
	parts := make([]string, 0, len(n.Gpus))
	for _, g := range n.Gpus {
		count := "unknown number of"
		if g.Count != nil {
			count = fmt.Sprintf("%d x", *g.Count)
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", count, g.Vendor, cmp.Or(g.Product, "GPUs of unknown product")))
	}
	return strings.Join(parts, ", ")
}

func reasonText(n *v1.GpuNode) string {
	if n.Message == "" {
		return string(n.Reason)
	}
	return fmt.Sprintf("%s: %s", n.Reason, n.Message)
}

func normal(reason, node, format string, args ...any) Change {
	return Change{Type: corev1.EventTypeNormal, Reason: reason, Node: node, Message: fmt.Sprintf(format, args...), Action: observe}
}

func warning(reason, node, format string, args ...any) Change {
	return Change{Type: corev1.EventTypeWarning, Reason: reason, Node: node, Message: fmt.Sprintf(format, args...), Action: observe}
}

// observe is the action of a change that of which there is only one kind.
const observe = "Observe"

// as returns the change with another action.
func (c Change) as(format string, args ...any) Change {
	c.Action = fmt.Sprintf(format, args...)
	return c
}

// maxPerReason is how many changes of one kind are reported one by one. More of them become one change.
const maxPerReason = 10

// Aggregate joins the changes of a kind into one that names the first few nodes when there are more than ten, so that a storm
// is a handful of Events. The changes must be sorted by reason, as Changes returns them.
func Aggregate(changes []Change) []Change {
	var out []Change
	for len(changes) > 0 {
		n := slices.IndexFunc(changes, func(c Change) bool { return c.Reason != changes[0].Reason })
		if n < 0 {
			n = len(changes)
		}
		kind := changes[:n]
		changes = changes[n:]
		if n <= maxPerReason {
			out = append(out, kind...)
			continue
		}
		names := make([]string, 0, n)
		for _, c := range kind {
			names = append(names, c.Node)
		}
		out = append(out, Change{Type: kind[0].Type, Reason: kind[0].Reason, Message: fmt.Sprintf("%d nodes: %s", n, firstFew(names)), Action: fmt.Sprintf("Nodes%d", n)})
	}
	return out
}
