package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

const whyHelp = `Print every piece of evidence that a Node gives about its GPUs, what it means and which fields it decided, then the
row that the inventory has for the Node. Evidence that decides nothing has lost to something else, or nothing needed it.

It reads the Node, and the ResourceSlices where they are served and may be listed; or files, as "scan -f" does:

  kubectl gpuinv why gpu-01
  kubectl gpuinv why gpu-01 -f nodes.yaml

-o json and -o yaml print {row, evidence}. The row of a Node without evidence of a GPU is null.`

// explanation is one Node's row and what it was decided from.
type explanation struct {
	// Row is the Node's row in the inventory. Nil: nothing on the Node is evidence of a GPU.
	Row *v1.GpuNode `json:"row"`
	// Evidence is everything that was seen, sorted by kind and key. Without a row it decides nothing.
	Evidence []gpu.Evidence `json:"evidence"`
	// notes say what could not be read.
	notes []string
}

func newWhy(io streams, target *cluster) *cobra.Command {
	from := &input{cluster: target, stdin: io.in}
	output := formatTable
	cmd := &cobra.Command{
		Use:   "why NODE [-f FILE|-]...",
		Short: "Print what a Node says about its GPUs, and what each piece of it decided",
		Long:  whyHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 || args[0] == "":
				return usageError(cmd, errors.New("the name of a Node is missing"))
			case len(args) > 1:
				return usageError(cmd, fmt.Errorf("one Node at a time, got %d", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return printWhy(cmd.Context(), io, args[0], from, output)
		},
	}
	from.register(cmd.Flags())
	output.register(cmd.Flags())
	return cmd
}

// printWhy explains one Node, of the cluster or in files.
func printWhy(ctx context.Context, io streams, name string, from *input, output format) error {
	read, err := from.node(ctx, name)
	if err != nil {
		return err
	}
	node, err := read.named(name)
	if err != nil {
		return err
	}
	return output.printExplanation(io, name, read.explain(node))
}

// named returns the Node of that name. The error lists the nearest names.
func (s *snapshot) named(name string) (*gpu.Facts, error) {
	names := make([]string, len(s.nodes))
	for i, n := range s.nodes {
		if n.Name() == name {
			return n, nil
		}
		names[i] = n.Name()
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no Node %q, nor any other", name)
	}
	return nil, fmt.Errorf("there is no Node %q; the nearest of %d: %s", name, len(names), strings.Join(nearest(name, names), ", "))
}

// explain reads one Node as an inventory does.
func (s *snapshot) explain(node *gpu.Facts) explanation {
	reading, ok := s.read(node, dra.DevicesByNode(s.slices))
	e := explanation{Evidence: slices.Concat([]gpu.Evidence{}, reading.Evidence), notes: s.notes}
	if ok {
		e.Row = &reading.Row
		return e
	}
	for i := range e.Evidence {
		e.Evidence[i].Decides = nil // there is no row with fields to decide
	}
	return e
}

// nearest returns the few names that are most like the given one: first those that contain it or are contained in it, then those
// that take the fewest edits.
func nearest(name string, names []string) []string {
	const shown = 3
	name = strings.ToLower(name)
	distance := make(map[string]int, len(names))
	for _, n := range names {
		lower := strings.ToLower(n)
		if !strings.Contains(lower, name) && !strings.Contains(name, lower) {
			distance[n] = edits(name, lower)
		}
	}
	sorted := slices.SortedFunc(slices.Values(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), strings.Compare(a, b))
	})
	return sorted[:min(len(sorted), shown)]
}

// edits returns how many characters must be added, removed or replaced to turn a into b.
func edits(a, b string) int {
	row := make([]int, utf8.RuneCountInString(b)+1)
	for j := range row {
		row[j] = j
	}
	i := 0
	for _, x := range a {
		i++
		diagonal := row[0]
		row[0] = i
		j := 0
		for _, y := range b {
			j++
			replaced := diagonal
			if x != y {
				replaced++
			}
			diagonal = row[j]
			row[j] = min(replaced, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(row)-1]
}
