package fleet

import (
	"reflect"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
)

// Change is a change of one node's part in any inventory.
type Change struct {
	// Before and After are the labels under which the node was and is counted; nil: it was not, or is not.
	Before, After labels.Labels
	// Row is true when the node's row differs.
	Row bool
	// All is true for a change that can concern any node.
	All bool
}

// Concerns reports whether the change can alter the inventory of the Nodes that a selector selects.
func (c Change) Concerns(selector labels.Selector) bool {
	if c.All {
		return true
	}
	was := c.Before != nil && selector.Matches(c.Before)
	is := c.After != nil && selector.Matches(c.After)
	return was != is || is && c.Row
}

// Moves reports whether labels of a selected node have changed. That can move it between the pools that an inventory
// expects.
func (c Change) Moves(selector labels.Selector) bool {
	return c.Before != nil && c.After != nil && selector.Matches(c.After) && !sameLabels(c.Before, c.After)
}

// none reports whether the change alters no inventory: a change of a Node without GPUs, or one back to what it was.
func (c Change) none() bool {
	return !c.All && (c.Before == nil && c.After == nil || !c.Row && sameLabels(c.Before, c.After))
}

func changeOf(before, after *node) (c Change) {
	if before != nil && before.isGPU {
		c.Before = before.facts.Labels()
	}
	if after != nil && after.isGPU {
		c.After = after.facts.Labels()
	}
	c.Row = c.Before == nil || c.After == nil || !reflect.DeepEqual(before.row, after.row)
	return c
}

// sameLabels reports whether both sides of a Change have the same labels. A side may have none.
func sameLabels(a, b labels.Labels) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.(*labelset.Set).Equal(b.(*labelset.Set))
}
