package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// defaultWidth is the width of the table where there is no terminal to ask.
const defaultWidth = 100

// productWidth is how many characters of a product's name its column shows. A longer name stands below the row in full, so that
// one of them does not push the other columns off the line.
const productWidth = 44

// tableOptions say how the table looks.
type tableOptions struct {
	// width is how many characters fit on a line; 0: defaultWidth.
	width int
	// colour turns colour on.
	colour bool
	// problemsOnly leaves out nodes that are ready and have no warning.
	problemsOnly bool
}

// fit adapts the table to the terminal that it is written to, if it is one.
func (o *tableOptions) fit(w io.Writer) {
	o.width = defaultWidth
	if width, ok := terminal(w); ok {
		o.width = width
		o.colour = colourWanted(os.Getenv)
	}
}

// writeTable prints an inventory for people: a summary, the conditions, the products, the nodes.
func writeTable(out *bytes.Buffer, inv *v1.GpuInventory, options tableOptions) {
	var text bytes.Buffer
	s := &inv.Status
	writeSummary(&text, inv, options)
	writeConditions(&text, s.Conditions, options)
	writeProducts(&text, s.Products, options)
	writeResources(&text, s.Resources, options)
	writeNodes(&text, s, options)
	out.Write(text.Bytes())
	if slices.Contains(strings.Fields(text.String()), unknownMark) {
		fmt.Fprintf(out, "\n%s = not known\n", unknownMark)
	}
}

func writeSummary(out *bytes.Buffer, inv *v1.GpuInventory, options tableOptions) {
	s := &inv.Status
	if s.TotalGpuNodes == nil && len(s.Conditions) == 0 {
		fmt.Fprintln(out, "no status yet: the operator has not written one")
		return
	}
	var parts []string
	if s.TotalGpuNodes == nil {
		parts = append(parts, "number of GPU nodes unknown")
	} else {
		parts = append(parts, fmt.Sprintf("%s (%s ready)", counted(*s.TotalGpuNodes, "GPU node"), number(s.ReadyGpuNodes)))
	}
	switch {
	case s.TotalGpus == nil:
		parts = append(parts, "number of GPUs unknown")
	case s.UnknownGpuNodes != nil && *s.UnknownGpuNodes > 0:
		parts = append(parts, gpus(s), "GPU count unknown on "+counted(*s.UnknownGpuNodes, "node"))
	default:
		parts = append(parts, gpus(s))
	}
	fmt.Fprintln(out, cell{strings.Join(parts, ", "), bold}.render(options.colour))
	if s.ObservedAt != nil {
		fmt.Fprintf(out, "Last change: %s\n", s.ObservedAt.UTC().Format(time.RFC3339))
	}
	if inv.Spec.Note != "" {
		fmt.Fprintf(out, "Note: %s\n", printable(inv.Spec.Note))
	}
}

func gpus(s *v1.GpuInventoryStatus) string {
	free := "free unknown"
	if s.FreeGpus != nil {
		free = number(s.FreeGpus) + " free"
	}
	return fmt.Sprintf("%s (%s ready, %s)", counted(*s.TotalGpus, "GPU"), number(s.ReadyGpus), free)
}

func writeConditions(out *bytes.Buffer, conditions []metav1.Condition, options tableOptions) {
	typeWidth := 0
	for _, c := range conditions {
		typeWidth = max(typeWidth, len(c.Type))
	}
	indent := typeWidth + gap + len(metav1.ConditionUnknown) + gap
	for _, c := range conditions {
		status := cell{fmt.Sprintf("%-*s", len(metav1.ConditionUnknown), c.Status), red}
		if c.Status == metav1.ConditionTrue {
			status.colour = green
		}
		lines := wrap(printable(orElse(c.Message, c.Reason)), options.width-indent)
		fmt.Fprintf(out, "%-*s  %s  %s\n", typeWidth, c.Type, status.render(options.colour),
			strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
	}
}

func writeProducts(out *bytes.Buffer, products []v1.ProductSummary, options tableOptions) {
	if len(products) == 0 {
		return
	}
	g := grid{header: []string{"VENDOR", "PRODUCT", "NODES", "READY", "GPUS", "READY GPUS", "FREE", "LARGEST"}}
	for _, p := range products {
		var row gridRow
		product, cut := shorten(printable(orElse(p.Product, unknownMark)), productWidth)
		if cut {
			row.below = []cell{{text: printable(p.Product)}}
		}
		for _, text := range []string{
			string(p.Vendor), product, strconv.Itoa(int(p.Nodes)), strconv.Itoa(int(p.ReadyNodes)),
			mark(p.Gpus), mark(p.ReadyGpus), mark(p.FreeGpus), mark(p.LargestFree),
		} {
			row.cells = append(row.cells, cell{text: printable(text)})
		}
		g.rows = append(g.rows, row)
	}
	out.WriteByte('\n')
	g.write(out, len(g.header), options.colour)
}

// writeResources prints what is held and free in the units that the scheduler counts, if that is known of any resource.
func writeResources(out *bytes.Buffer, resources []v1.ResourceSummary, options tableOptions) {
	if !slices.ContainsFunc(resources, func(r v1.ResourceSummary) bool { return r.Allocated != nil }) {
		return
	}
	g := grid{header: []string{"RESOURCE", "CAPACITY", "ALLOCATABLE", "HELD", "FREE"}}
	for _, r := range resources {
		name, cut := shorten(printable(r.Name), productWidth)
		row := gridRow{cells: []cell{{text: name}}}
		if cut {
			row.below = []cell{{text: printable(r.Name)}}
		}
		for _, n := range []*int64{&r.Capacity, &r.Allocatable, r.Allocated, r.Free} {
			row.cells = append(row.cells, cell{text: mark(n)})
		}
		g.rows = append(g.rows, row)
	}
	out.WriteByte('\n')
	g.write(out, len(g.header), options.colour)
}

func writeNodes(out *bytes.Buffer, s *v1.GpuInventoryStatus, options tableOptions) {
	nodes := s.Nodes
	if options.problemsOnly {
		nodes = slices.DeleteFunc(slices.Clone(nodes), func(n v1.GpuNode) bool { return n.Ready && len(n.Warnings) == 0 })
	}
	if len(nodes) > 0 {
		out.WriteByte('\n')
		writeNodeRows(out, nodes, options)
	}
	switch left := len(s.Nodes) - len(nodes); {
	case left > 0 && len(nodes) == 0:
		fmt.Fprintf(out, "\nEvery listed node is ready and has no warning.\n")
	case left > 0:
		fmt.Fprintf(out, "\n%s more, ready and without a warning.\n", counted(int32(left), "node"))
	}
	if s.NodesOmitted > 0 {
		fmt.Fprintf(out, "\n%s not listed: the object would be too large. Totals and products count them.\n",
			counted(s.NodesOmitted, "node"))
	}
}

func counted(n int32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func number(n *int32) string {
	if n == nil {
		return "unknown"
	}
	return strconv.Itoa(int(*n))
}

func mark[N int32 | int64](n *N) string {
	if n == nil {
		return unknownMark
	}
	return strconv.FormatInt(int64(*n), 10)
}
