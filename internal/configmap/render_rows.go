package configmap

import (
	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// row is a GPU node as the table and the JSON show it.
type row struct {
	line string // with its line end
	json string
}

// fitRows gives, in the order of nodes, the most needed rows that fit into budget bytes. The columns are as wide as all
// nodes need, kept or not: the size of a row must not depend on which others are kept.
func fitRows(nodes []v1.GpuNode, budget int) ([]row, error) {
	lines := tableLines(nodes)
	texts := make([]string, len(nodes)) // empty: left out
	fit := 0
	for _, i := range inventory.ByNeed(nodes) {
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
