package configmap

import (
	"errors"
	"fmt"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Keys of the ConfigMap's data.
const (
	// KeySummary holds the totals on one line and one line per product.
	KeySummary = "summary"
	// KeyNodes holds an aligned table with one row per GPU node.
	KeyNodes = "nodes"
	// KeyJSON holds the content of the status as compact JSON.
	KeyJSON = "inventory.json"
)

// MaxBytes bounds the keys and values of the data together. The API server refuses a ConfigMap over 1 MiB.
const MaxBytes = 900_000

// Render gives the ConfigMap's data for an inventory. It always sets KeySummary, KeyNodes and KeyJSON; KeyNodes is empty
// when there is no GPU node. Rows keep the order of inv.Nodes, and inv is not changed.
//
// The data never exceeds MaxBytes. When it would, rows are left out of the table and the JSON alike: ready nodes without
// warnings first, then ready nodes with warnings, then the others, each from the end. Totals stay complete.
//
// An error means that inv is nil, that a value has no JSON form, or that even without rows the data does not fit. None of
// them goes away by trying again.
func Render(inv *v1.GpuInventoryStatus) (map[string]string, error) {
	if inv == nil {
		return nil, errors.New("no inventory to render")
	}
	doc, err := newDocument(inv)
	if err != nil {
		return nil, err
	}
	summary := renderSummary(inv)
	fixed, err := fixedBytes(doc, summary, inv)
	if err != nil {
		return nil, err
	}
	kept, err := fitRows(inv.Nodes, MaxBytes-fixed)
	if err != nil {
		return nil, err
	}
	omitted := omittedNodes(inv, len(kept))

	doc.setNodes(kept, omitted)
	text, err := encode(doc)
	if err != nil {
		return nil, err
	}
	data := map[string]string{KeySummary: summary, KeyNodes: renderTable(kept, omitted), KeyJSON: text}
	if n := size(data); n > MaxBytes {
		return nil, fmt.Errorf("%d bytes without any node, more than the %d that a ConfigMap can take", n, MaxBytes)
	}
	return data, nil
}

// fixedBytes is the most that everything but the rows can take.
func fixedBytes(doc document, summary string, inv *v1.GpuInventoryStatus) (int, error) {
	most := omittedNodes(inv, 0)
	doc.setNodes([]row{{json: "{}"}}, most) // one row, so that the field and its brackets count
	text, err := encode(doc)
	if err != nil {
		return 0, err
	}
	return size(map[string]string{KeySummary: summary, KeyNodes: omission(most), KeyJSON: text}), nil
}

// omittedNodes adds the rows left out here to those that were left out before.
func omittedNodes(inv *v1.GpuInventoryStatus, kept int) int {
	return int(inv.NodesOmitted) + len(inv.Nodes) - kept
}

// omission is the last line of the table, empty when every node has its row.
func omission(nodes int) string {
	if nodes == 0 {
		return ""
	}
	return fmt.Sprintf("... and %d more nodes (healthy rows are left out first)\n", nodes)
}

func renderTable(rows []row, omitted int) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.line)
	}
	b.WriteString(omission(omitted))
	return b.String()
}

func size(data map[string]string) int {
	n := 0
	for k, v := range data {
		n += len(k) + len(v)
	}
	return n
}
