package cli

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// maxNote is how many characters the API server accepts in spec.note.
const maxNote = 1024

const scanHelp = `Compute the GPU inventory now, without the operator: from the Nodes of the current context, or from files.

A file is YAML or JSON with Nodes in it, in any number of documents and lists. Beside them, ResourceSlices say what DRA
drivers published; Pods and ResourceClaims, of all namespaces, say who holds GPUs. Objects of other kinds are skipped.

  kubectl get nodes -o yaml > nodes.yaml
  kubectl gpuinv scan -f nodes.yaml
  kubectl get nodes,pods -A -o yaml | kubectl gpuinv scan -f -

Without Pods it is not known what is free. From a cluster they are read with --pods alone, since there may be very many;
ResourceSlices are read where they are served and may be listed.

-o json and -o yaml print a GpuInventory whose status equals the one that the operator writes for the same Nodes.
What belongs to a write is left out: observedAt, observedGeneration and the times of conditions.`

func newScan(io streams, target *cluster) *cobra.Command {
	from := &input{cluster: target, stdin: io.in}
	var note, why string
	var pods bool
	output := formatTable
	cmd := &cobra.Command{
		Use:   "scan [-f FILE|-]...",
		Short: "Compute the GPU inventory from Nodes, of the cluster or in files",
		Long:  scanHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError(cmd, fmt.Errorf("unexpected argument %q: files are given with -f", args[0]))
			}
			if n := utf8.RuneCountInString(note); n > maxNote {
				return usageError(cmd, fmt.Errorf("the note has %d characters, at most %d are allowed", n, maxNote))
			}
			if cmd.Flags().Changed("why") && why == "" {
				return usageError(cmd, errors.New("--why needs the name of a Node"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if why != "" {
				return printWhy(cmd.Context(), io, why, from, output)
			}
			read, err := from.all(cmd.Context(), pods)
			if noteErr := printNotes(io.err, read.notes); err == nil {
				err = noteErr
			}
			if err != nil {
				return err
			}
			return output.print(io.out, read.inventory(note), tableOptions{})
		},
	}
	from.register(cmd.Flags())
	cmd.Flags().StringVar(&note, "note", "", "`TEXT` for spec.note of the printed GpuInventory")
	cmd.Flags().BoolVar(&pods, "pods", false, "also read the Pods and ResourceClaims of the cluster: who holds GPUs, what is free")
	cmd.Flags().StringVar(&why, "why", "", "print what the Node `NAME` says and what it decided, instead of the inventory")
	cmd.MarkFlagsMutuallyExclusive("pods", "filename")
	cmd.MarkFlagsMutuallyExclusive("why", "note")
	output.register(cmd.Flags())
	return cmd
}
