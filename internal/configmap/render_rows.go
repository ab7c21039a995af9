package configmap

import (
	"cmp"
	"slices"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// row is a GPU node as the table and the JSON show it.
type row struct {
	line string // with its line end
	json string
}

// need orders nodes by how badly a reader needs their rows.
type need int

const (
	needNotReady need = iota
	needWarned
	needHealthy
)

func needOf(n *v1.GpuNode) need {
	switch {
	case !n.Ready:
		return needNotReady
	case len(n.Warnings) > 0:
		return needWarned
	default:
		return needHealthy
	}
}

// fitRows gives, in the order of nodes, the most needed rows that fit into budget bytes. The columns are as wide as all
// nodes need, kept or not: the size of a row must not depend on which others are kept.
func fitRows(nodes []v1.GpuNode, budget int) ([]row, error) {
	lines := tableLines(nodes)
	texts := make([]string, len(nodes)) // empty: left out
	fit := 0
	for _, i := range byNeed(nodes) {
		text, err := encode(&nodes[i])
		if err != nil {
			return nil, err
		}
		if budget -= len(lines[i]) + len(text) + len(","); budget < 0 {
			break
		}
		texts[i] = text
		fit++
	}
	kept := make([]row, 0, fit)
	for i, text := range texts {
		if text != "" {
			kept = append(kept, row{line: lines[i], json: text})
		}
	}
	return kept, nil
}

// byNeed gives the indexes of nodes, the most needed first and otherwise in their order.
func byNeed(nodes []v1.GpuNode) []int {
	indexes := make([]int, len(nodes))
	for i := range indexes {
		indexes[i] = i
	}
	slices.SortStableFunc(indexes, func(a, b int) int { return cmp.Compare(needOf(&nodes[a]), needOf(&nodes[b])) })
	return indexes
}
