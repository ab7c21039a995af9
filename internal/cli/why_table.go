package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

const (
	// decidesWidth and kindWidth are those of the longest field and of the longest kind.
	decidesWidth = 12
	kindWidth    = 10
	// leastWidth is what the last column of a table gets even on a narrow terminal.
	leastWidth = 24
	// valueWidth is how many characters of a value are shown; -o json has all of them.
	valueWidth = 200
	// decidesNothing stands where evidence decided no field.
	decidesNothing = "nothing"
)

// lookedFor tells people what counts as evidence, for a Node that has none.
var lookedFor = [][2]string{
	{"slices", "ResourceSlices of DRA drivers of GPUs"},
	{"resources", "names of GPU device plugins in capacity and allocatable, also with 0 units"},
	{"labels", "of GPU feature discovery, the NVIDIA GPU Operator and its administrators, AMD's node labeller, " +
		"rules of node feature discovery for Intel and AMD, GPUs on the PCI bus, and machine types of clouds"},
	{"annotations", "lists of devices that HAMi keeps"},
	{"no evidence", "nvidia.com/gfd.timestamp, nvidia.com/vgpu.present=false, nvidia.com/gpu.present=false, " +
		"a machine type with 0 GPUs, a taint, a fault condition, graphics built into a processor"},
}

// writeExplanation prints the evidence and the row for people.
func writeExplanation(out *bytes.Buffer, name string, e explanation, options tableOptions) {
	for _, note := range e.notes {
		fmt.Fprintln(out, strings.Join(fold("note: "+printable(note), options.width), "\n")+"\n")
	}
	if e.Row == nil {
		verdict := printable(name) + " is no GPU node"
		if len(e.notes) > 0 {
			verdict += ", as far as could be read"
		}
		writeNoGpuNode(out, verdict, e.Evidence, options)
		return
	}
	writeEvidence(out, e.Evidence, options)
	var row bytes.Buffer
	writeRow(&row, e.Row, options)
	fmt.Fprintf(out, "\n%s", row.Bytes())
	unknown := func(word string) bool { return strings.HasPrefix(word, unknownMark) }
	if slices.ContainsFunc(strings.Fields(row.String()), unknown) {
		fmt.Fprintf(out, "\n%s = not known\n", unknownMark)
	}
}

// writeNoGpuNode prints what was seen and does not count, and what would count. The Node's own state is neither.
func writeNoGpuNode(out *bytes.Buffer, verdict string, evidence []gpu.Evidence, options tableOptions) {
	seen := textTable{widths: []int{decidesWidth}}
	for _, e := range evidence {
		if e.Kind != gpu.KindCondition && e.Kind != gpu.KindNode {
			seen.add(block{text: fold(printable(string(e.Kind)), decidesWidth)}, block{text: evidenceText(e, options.rest(decidesWidth))})
		}
	}
	paragraph := func(text string) {
		for _, line := range fold(text, options.width) {
			fmt.Fprintln(out, cell{line, bold}.render(options.colour))
		}
	}
	if len(seen.rows) == 0 {
		paragraph(verdict + ": nothing known as evidence of a GPU was found.")
	} else {
		paragraph(verdict + ". This was seen, and is no evidence of a GPU:")
		seen.write(out, options.colour)
	}
	looked := textTable{widths: []int{decidesWidth}}
	for _, l := range lookedFor {
		looked.add(block{text: fold(l[0], decidesWidth)}, block{text: fold(l[1], options.rest(decidesWidth))})
	}
	out.WriteByte('\n')
	paragraph("What is looked for:")
	looked.write(out, options.colour)
}

// writeEvidence prints the evidence, with what decided something first.
func writeEvidence(out *bytes.Buffer, evidence []gpu.Evidence, options tableOptions) {
	t := textTable{widths: []int{decidesWidth, kindWidth}}
	t.add(block{[]string{"DECIDES"}, bold}, block{[]string{"KIND"}, bold}, block{[]string{"EVIDENCE"}, bold})
	for _, used := range []bool{true, false} {
		for _, e := range evidence {
			if e.Used() != used {
				continue
			}
			decides := orElse(strings.Join(e.Decides, ", "), decidesNothing)
			t.add(block{text: fold(printable(decides), decidesWidth)}, block{text: fold(printable(string(e.Kind)), kindWidth)},
				block{text: evidenceText(e, options.rest(decidesWidth, kindWidth))})
		}
	}
	t.write(out, options.colour)
}

// evidenceText returns what a source said, and below it what that means.
func evidenceText(e gpu.Evidence, width int) []string {
	return append(fold(said(e), width), fold("  "+printable(e.Says), width)...)
}

// said returns what a source said literally.
func said(e gpu.Evidence) string {
	value, _ := shorten(printable(e.Value), valueWidth)
	if value == "" {
		value = `""`
	}
	return printable(e.Key) + " = " + value
}

// writeRow prints the fields of a row, one below the other.
func writeRow(out *bytes.Buffer, n *v1.GpuNode, options tableOptions) {
	t := textTable{widths: []int{decidesWidth}}
	field := func(title string, c colour, entries ...string) {
		var lines []string
		for _, e := range entries {
			lines = append(lines, fold(printable(e), options.rest(decidesWidth))...)
		}
		t.add(block{[]string{title}, bold}, block{lines, c})
	}
	field("NODE", plain, n.Name)
	field("READY", pick(n.Ready, green, red), readyText(n))
	field("REASON", plain, string(n.Reason))
	if n.Message != "" {
		field("MESSAGE", plain, n.Message)
	}
	field("GPUS", plain, append([]string{mark(n.GpuCount)}, each(n.Gpus, groupText)...)...)
	field("SHARING", plain, orElse(string(n.Sharing), unknownMark))
	field("MODE", plain, orElse(string(n.WorkloadMode), unknownMark))
	field("RESOURCES", plain, orNone(each(n.Resources, resourceText))...)
	warnings := each(n.Warnings, func(w *v1.Warning) string { return string(*w) })
	field("WARNINGS", pick(len(warnings) > 0, yellow, plain), strings.Join(orNone(warnings), ", "))
	t.write(out, options.colour)
}

func readyText(n *v1.GpuNode) string {
	text := pick(n.Ready, "yes", "no")
	if n.Unschedulable {
		text += ", and unschedulable"
	}
	return text
}

// groupText returns one row of a node's GPUs, such as "8 x Tesla-T4 (nvidia), 15360 MiB each, from labels".
func groupText(g *v1.GpuGroup) string {
	name := orElse(g.Product, unknownMark)
	if g.Variant != "" {
		name += "-" + g.Variant
	}
	memory := unknownMark + " MiB each"
	switch {
	case g.MemoryMiB != nil:
		memory = fmt.Sprintf("%d MiB each", *g.MemoryMiB)
	case g.MemoryPerUnitMiB != nil:
		memory = fmt.Sprintf("%d MiB per unit", *g.MemoryPerUnitMiB)
	}
	text := fmt.Sprintf("%s x %s (%s), %s", mark(g.Count), name, g.Vendor, memory)
	if g.Source != "" {
		text += ", from " + string(g.Source)
	}
	return text
}

func resourceText(r *v1.NodeResource) string {
	return r.Name + ": " + strconv.FormatInt(r.Allocatable, 10) + " of " + strconv.FormatInt(r.Capacity, 10) + " units allocatable"
}

func each[T any](list []T, text func(*T) string) []string {
	var out []string
	for i := range list {
		out = append(out, text(&list[i]))
	}
	return out
}

func orNone(list []string) []string {
	if len(list) == 0 {
		return []string{"none"}
	}
	return list
}

func pick[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

// rest returns the width that columns of the given widths leave for the last column.
func (o tableOptions) rest(widths ...int) int {
	left := o.width
	for _, w := range widths {
		left -= w + gap
	}
	return max(left, leastWidth)
}
