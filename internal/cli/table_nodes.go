package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// nodeColumn is a column of the nodes' table.
type nodeColumn struct {
	title string
	value func(*v1.GpuNode) string
	// below reports whether a value is shown below the row when the column does not fit.
	below func(*v1.GpuNode) bool
}

// nodeColumns are the columns of the nodes' table. The first fixedColumns are always there; of the others, as many as fit.
// What does not fit stands below the row.
var nodeColumns = []nodeColumn{
	{"NODE", func(n *v1.GpuNode) string { return n.Name }, nil},
	{"STATUS", func(n *v1.GpuNode) string { return string(n.Reason) }, nil},
	{"GPUS", func(n *v1.GpuNode) string { return mark(n.GpuCount) }, nil},
	{productTitle, products, func(n *v1.GpuNode) bool { return products(n) != unknownMark }},
	{"MIB/GPU", memories, func(n *v1.GpuNode) bool { return memories(n) != unknownMark }},
	{"MODE", func(n *v1.GpuNode) string { return orElse(string(n.WorkloadMode), unknownMark) },
		func(n *v1.GpuNode) bool { return n.WorkloadMode != v1.WorkloadModeContainer && n.WorkloadMode != "" }},
	{"SHARING", func(n *v1.GpuNode) string { return orElse(string(n.Sharing), unknownMark) },
		func(n *v1.GpuNode) bool { return n.Sharing != v1.SharingNone && n.Sharing != "" }},
}

// heldColumn shows how many of a node's units are held. It is there when that is known of any node.
var heldColumn = nodeColumn{"HELD", held, func(n *v1.GpuNode) bool { return len(n.Resources) == 1 && anyHeld(n.Resources[0]) }}

const (
	fixedColumns = 3
	productTitle = "PRODUCT"
)

// columnsFor returns the columns that the nodes need.
func columnsFor(nodes []v1.GpuNode) []nodeColumn {
	allocated := slices.ContainsFunc(nodes, func(n v1.GpuNode) bool {
		return slices.ContainsFunc(n.Resources, func(r v1.NodeResource) bool { return r.Allocated != nil })
	})
	if !allocated {
		return nodeColumns
	}
	return slices.Insert(slices.Clone(nodeColumns), fixedColumns, heldColumn)
}

func writeNodeRows(out *bytes.Buffer, nodes []v1.GpuNode, options tableOptions) {
	all := columnsFor(nodes)
	var g grid
	for _, c := range all {
		g.header = append(g.header, c.title)
	}
	for i := range nodes {
		var cells []cell
		for _, c := range all {
			text := printable(c.value(&nodes[i]))
			if c.title == productTitle {
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
	fitting := g.fitting(options.width, fixedColumns)
	for i := range nodes {
		g.rows[i].below = nodeNotes(&nodes[i], all, fitting, options.width-gap)
	}
	g.write(out, fitting, options.colour)
}

// nodeNotes returns the lines below a node's row, which has the first of the columns.
func nodeNotes(n *v1.GpuNode, all []nodeColumn, columns, width int) (notes []cell) {
	add := func(text string, c colour) {
		for _, line := range wrap(printable(text), width) {
			notes = append(notes, cell{line, c})
		}
	}
	add(strings.Join(besides(n, all, columns), ", "), plain)
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

// besides returns what the first columns of a node's row do not say, or not in full.
func besides(n *v1.GpuNode, all []nodeColumn, columns int) (rest []string) {
	for i, c := range all {
		_, cut := shorten(c.value(n), productWidth)
		if i >= columns && c.below(n) || i < columns && c.title == productTitle && cut {
			rest = append(rest, strings.ToLower(c.title)+" "+c.value(n))
		}
	}
	if len(n.Resources) > 1 && slices.ContainsFunc(n.Resources, anyHeld) {
		rest = append(rest, "held: "+strings.Join(heldOf(n, func(resource string) string { return resource + " " }), ", "))
	}
	return rest
}

// products returns the names of a node's GPUs as their vendor's tools write them, variant included.
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

// memories returns the memory of one GPU in MiB, or that of a slice where only that is known.
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

func anyHeld(r v1.NodeResource) bool { return r.Allocated != nil && *r.Allocated > 0 }

// held returns what is held of each resource that a node offers, such as 3/8.
func held(n *v1.GpuNode) string {
	if len(n.Resources) == 0 {
		return unknownMark
	}
	return strings.Join(heldOf(n, func(string) string { return "" }), " + ")
}

func heldOf(n *v1.GpuNode, prefix func(resource string) string) (parts []string) {
	for i := range n.Resources {
		r := &n.Resources[i]
		parts = append(parts, fmt.Sprintf("%s%s/%d", prefix(r.Name), mark(r.Allocated), r.Allocatable))
	}
	return parts
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
