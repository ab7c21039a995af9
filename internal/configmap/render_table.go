package configmap

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// maxColumn bounds the width that a column gives to all its cells. A longer cell sticks out of its own row; without the
// bound, one name of 253 characters would pad every row with as many blanks.
const maxColumn = 64

// groupSeparator joins the products of one node, and their counts and memories in the same order.
const groupSeparator = "+"

// tableLines gives one line per node, line end included, with the columns aligned:
//
//	name ready=BOOL PRODUCT[-VARIANT] xCOUNT mem=MIB workloadMode reason [warnings] [lastSeen=TIME]
//
// Cells hold no blanks, so that awk can tell the columns. A question mark stands for what is not known.
func tableLines(nodes []v1.GpuNode) []string {
	cells := make([][]string, len(nodes))
	var widths []int
	for i := range nodes {
		cells[i] = nodeCells(&nodes[i])
		for c, s := range cells[i] {
			if c == len(widths) {
				widths = append(widths, 0)
			}
			widths[c] = min(max(widths[c], utf8.RuneCountInString(s)), maxColumn)
		}
	}
	lines := make([]string, len(nodes))
	for i := range cells {
		lines[i] = alignedLine(cells[i], widths)
	}
	return lines
}

func alignedLine(cells []string, widths []int) string {
	var b strings.Builder
	for c, s := range cells {
		b.WriteString(s)
		if c == len(cells)-1 {
			break
		}
		padding := max(widths[c]-utf8.RuneCountInString(s), 0)
		b.WriteString(strings.Repeat(" ", padding+1))
	}
	b.WriteByte('\n')
	return b.String()
}

func nodeCells(n *v1.GpuNode) []string {
	cells := []string{
		cell(n.Name, "?"),
		"ready=" + strconv.FormatBool(n.Ready),
		products(n),
		counts(n),
		"mem=" + memories(n),
		cell(string(n.WorkloadMode), "?"),
		cell(string(n.Reason), "?"),
	}
	if len(n.Warnings) > 0 {
		cells = append(cells, warnings(n.Warnings))
	}
	if n.LastSeen != nil {
		cells = append(cells, "lastSeen="+n.LastSeen.UTC().Format(time.RFC3339))
	}
	return cells
}

func products(n *v1.GpuNode) string {
	if len(n.Gpus) == 0 {
		return unlabeled
	}
	return joinGroups(n.Gpus, func(g *v1.GpuGroup) string {
		name := cell(g.Product, unlabeled)
		if g.Variant != "" {
			name += "-" + cell(g.Variant, "")
		}
		return name
	})
}

// counts falls back to the node's own count: it may be known where those of the products are not.
func counts(n *v1.GpuNode) string {
	known := false
	for i := range n.Gpus {
		known = known || n.Gpus[i].Count != nil
	}
	if !known {
		return count(n.GpuCount)
	}
	return joinGroups(n.Gpus, func(g *v1.GpuGroup) string { return count(g.Count) })
}

func count(n *int32) string {
	if n == nil {
		return "x?"
	}
	return "x" + strconv.Itoa(int(*n))
}

// memories is MiB per physical GPU; where only a slice's memory is known, the unit says so.
func memories(n *v1.GpuNode) string {
	if len(n.Gpus) == 0 {
		return "?"
	}
	return joinGroups(n.Gpus, func(g *v1.GpuGroup) string {
		switch {
		case g.MemoryMiB != nil:
			return strconv.FormatInt(*g.MemoryMiB, 10)
		case g.MemoryPerUnitMiB != nil:
			return strconv.FormatInt(*g.MemoryPerUnitMiB, 10) + "/unit"
		default:
			return "?"
		}
	})
}

func joinGroups(groups []v1.GpuGroup, text func(*v1.GpuGroup) string) string {
	parts := make([]string, len(groups))
	for i := range groups {
		parts[i] = text(&groups[i])
	}
	return strings.Join(parts, groupSeparator)
}

func warnings(ws []v1.Warning) string {
	parts := make([]string, len(ws))
	for i, w := range ws {
		parts[i] = cell(string(w), "?")
	}
	return strings.Join(parts, ",")
}

// cell makes a text that came from outside safe for a table: one word on one line. Blanks become dashes, as feature
// discovery writes product names; what cannot be printed, which includes marks that reverse the reading direction, becomes
// the replacement character. An empty text becomes the placeholder.
func cell(s, placeholder string) string {
	if s == "" {
		return placeholder
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		default:
			return r
		}
	}, s)
}
