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
	"github.com/spf13/pflag"

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
	// note says what could not be read. Empty: nothing.
	note string
}

// newWhy is the command that explains one Node.
func newWhy(io streams, target *cluster) *cobra.Command {
	var files []string
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
			return why(cmd.Context(), io, target, args[0], files, output)
		},
	}
	cmd.Flags().StringArrayVarP(&files, "filename", "f", nil, "`FILE` with Nodes; - is standard input; may be repeated")
	output.register(cmd.Flags())
	return cmd
}

// addWhyFlag gives the scan command a flag --why NODE, which explains one of the Nodes that scan would count.
func addWhyFlag(scan *cobra.Command, io streams, target *cluster) *cobra.Command {
	const flag = "why"
	name := scan.Flags().String(flag, "", "print what the Node `NAME` says and what it decided, instead of the inventory")
	scan.MarkFlagsMutuallyExclusive(flag, "note")
	inventory := scan.RunE
	scan.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed(flag) {
			return inventory(cmd, args)
		}
		if *name == "" {
			return usageError(cmd, errors.New("--why needs the name of a Node"))
		}
		files, output, err := scanFlags(cmd.Flags())
		if err != nil {
			return usageError(cmd, err)
		}
		return why(cmd.Context(), io, target, *name, files, output)
	}
	return scan
}

// scanFlags are the flags of scan that --why shares.
func scanFlags(flags *pflag.FlagSet) (files []string, output format, err error) {
	if files, err = flags.GetStringArray("filename"); err != nil {
		return nil, "", err
	}
	return files, format(flags.Lookup("output").Value.String()), nil
}

// why explains one Node, of the cluster or in files.
func why(ctx context.Context, io streams, target *cluster, name string, files []string, output format) error {
	found := target.fleet()
	var note string
	var err error
	if len(files) == 0 {
		note, err = target.explained(ctx, name, &found)
	} else {
		err = readFiles(files, io.in, &found)
	}
	if err != nil {
		return err
	}
	node, err := found.named(name)
	if err != nil {
		return err
	}
	e := found.explain(node)
	e.note = note
	return output.printExplanation(io, name, e)
}

// named finds a Node. The error names those whose names come closest.
func (f *fleet) named(name string) (*gpu.Facts, error) {
	names := make([]string, len(f.nodes))
	for i, n := range f.nodes {
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
func (f *fleet) explain(node *gpu.Facts) explanation {
	devices := dra.DevicesByNode(f.slices)
	reading, ok := gpu.Read(node, devices[node.Name()], f.options)
	e := explanation{Evidence: slices.Concat([]gpu.Evidence{}, reading.Evidence)}
	if ok {
		e.Row = &reading.Row
		return e
	}
	for i := range e.Evidence {
		e.Evidence[i].Decides = nil // there is no row with fields to decide
	}
	return e
}

// nearest are the few names that are most like one: those that contain it or are contained in it, then those that take the
// fewest edits.
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

// edits is how many characters must be added, removed or replaced to turn a into b.
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
