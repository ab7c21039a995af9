package configmap

import (
	"fmt"
	"strconv"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// maxSummaryBytes bounds the summary. Some hundred products fit; a fleet has a handful.
const maxSummaryBytes = 100_000

const (
	unknown   = "unknown"
	unlabeled = "<unlabeled>"
)

// renderSummary gives the totals on the first line and one line per product. A value that nobody knows is said to be so.
func renderSummary(inv *v1.GpuInventoryStatus) string {
	var b strings.Builder
	fmt.Fprintf(&b, "gpu_nodes=%s ready=%s gpus=%s",
		number(inv.TotalGpuNodes), number(inv.ReadyGpuNodes), number(inv.TotalGpus))
	if inv.UnknownGpuNodes != nil && *inv.UnknownGpuNodes > 0 {
		fmt.Fprintf(&b, " unknown_nodes=%d", *inv.UnknownGpuNodes)
	}
	b.WriteByte('\n')

	for i := range inv.Products {
		line := productLine(&inv.Products[i])
		if b.Len()+len(line) > maxSummaryBytes {
			fmt.Fprintf(&b, "... and %d more products\n", len(inv.Products)-i)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

func productLine(p *v1.ProductSummary) string {
	return fmt.Sprintf("%s vendor=%s nodes=%d ready=%d gpus=%s ready_gpus=%s free=%s largest_free=%s\n",
		cell(p.Product, unlabeled), cell(string(p.Vendor), unknown), p.Nodes, p.ReadyNodes,
		number(p.Gpus), number(p.ReadyGpus), number(p.FreeGpus), number(p.LargestFree))
}

func number(n *int32) string {
	if n == nil {
		return unknown
	}
	return strconv.Itoa(int(*n))
}
