package cli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// nodeColumns are the columns of the nodes' table. The first fixedColumns are always there; of the others, as many as fit
// the width. What does not fit stands below the row.
var nodeColumns = []struct {
	title string
	value func(*v1.GpuNode) string
	// below says whether a value is worth a place below the row.
	below func(*v1.GpuNode) bool
}{
	{"NODE", func(n *v1.GpuNode) string { return n.Name }, nil},
	{"STATUS", func(n *v1.GpuNode) string { return string(n.Reason) }, nil},
	{"GPUS", func(n *v1.GpuNode) string { return mark(n.GpuCount) }, nil},
	{"PRODUCT", products, func(n *v1.GpuNode) bool { return products(n) != unknownMark }},
	{"MIB/GPU", memories, func(n *v1.GpuNode) bool { return memories(n) != unknownMark }},
	{"MODE", func(n *v1.GpuNode) string { return orElse(string(n.WorkloadMode), unknownMark) },
		func(n *v1.GpuNode) bool { return n.WorkloadMode != v1.WorkloadModeContainer && n.WorkloadMode != "" }},
	{"SHARING", func(n *v1.GpuNode) string { return orElse(string(n.Sharing), unknownMark) },
		func(n *v1.GpuNode) bool { return n.Sharing != v1.SharingNone && n.Sharing != "" }},
}

const (
	fixedColumns  = 3
	productColumn = 3
)

func writeNodeRows(out *bytes.Buffer, nodes []v1.GpuNode, options tableOptions) {
	var g grid
	for _, c := range nodeColumns {
		g.header = append(g.header, c.title)
	}
	for i := range nodes {
		var cells []cell
		for c := range nodeColumns {
			text := printable(nodeColumns[c].value(&nodes[i]))
			if c == productColumn {
				text, _ = shorten(text, productWidth)
			}
			cells = append(cells, cell{text: text})
		}
		cells[1].colour = red
		if nodes[i].Ready {
			cells[1].colour = green
		}
		g.rows = append(g.rows, gridRow{cells: cells})
	}
	columns := g.fitting(options.width, fixedColumns)
	for i := range nodes {
		g.rows[i].below = nodeNotes(&nodes[i], columns, options.width-gap)
	}
	g.write(out, columns, options.colour)
}

// nodeNotes are the lines below a node's row.
func nodeNotes(n *v1.GpuNode, columns, width int) (notes []cell) {
	add := func(text string, c colour) {
		for _, line := range wrap(printable(text), width) {
			notes = append(notes, cell{line, c})
		}
	}
	var rest []string
	for i, c := range nodeColumns {
		_, cut := shorten(c.value(n), productWidth)
		if i >= columns && c.below(n) || i == productColumn && i < columns && cut {
			rest = append(rest, strings.ToLower(c.title)+" "+c.value(n))
		}
	}
	add(strings.Join(rest, ", "), plain)
	if len(n.Warnings) > 0 {
		var names []string
		for _, w := range n.Warnings {
			names = append(names, string(w))
		}
		add("warnings: "+strings.Join(names, ", "), yellow)
	}
	if n.LastSeen != nil {
		add("last seen "+n.LastSeen.UTC().Format(time.RFC3339), plain)
	}
	add(n.Message, plain)
	return notes
}

// products names a node's GPUs as their vendor's tools do, variant included.
func products(n *v1.GpuNode) string {
	return eachGroup(n, func(g *v1.GpuGroup) string {
		name := orElse(g.Product, unknownMark)
		if g.Variant != "" {
			name += "-" + g.Variant
		}
		if len(n.Gpus) > 1 && g.Count != nil {
			name = fmt.Sprintf("%d x %s", *g.Count, name)
		}
		return name
	})
}

// memories is the memory of one GPU in MiB; where only that of a slice is known, it says so.
func memories(n *v1.GpuNode) string {
	return eachGroup(n, func(g *v1.GpuGroup) string {
		switch {
		case g.MemoryMiB != nil:
			return strconv.FormatInt(*g.MemoryMiB, 10)
		case g.MemoryPerUnitMiB != nil:
			return fmt.Sprintf("%d/unit", *g.MemoryPerUnitMiB)
		default:
			return unknownMark
		}
	})
}

func eachGroup(n *v1.GpuNode, text func(*v1.GpuGroup) string) string {
	if len(n.Gpus) == 0 {
		return unknownMark
	}
	parts := make([]string, len(n.Gpus))
	for i := range n.Gpus {
		parts[i] = text(&n.Gpus[i])
	}
	return strings.Join(parts, " + ")
}
