package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitOK = 0
	// exitFailed says that the input was fine and something else was not: the cluster could not be read, the output not
	// be written.
	exitFailed = 1
	// exitBadInput says that the files or the command line cannot be used.
	exitBadInput = 2
)

// failure is an error that is not the fault of the command line or of an input file.
type failure struct{ error }

// Unwrap returns the cause.
func (f failure) Unwrap() error { return f.error }

// streams are what a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Run runs the plugin with the arguments after the program's name and returns the exit code of the process: 0; 1 when
// the cluster could not be read or the output not be written; 2 for bad input or usage. An error is one line on stderr.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(streams{stdin, stdout, stderr}) //nolint:contextcheck // cobra hands the context to the commands
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if _, writeErr := fmt.Fprintf(stderr, "error: %s\n", printable(err.Error())); writeErr != nil {
		return exitFailed
	}
	if _, failed := errors.AsType[failure](err); failed {
		return exitFailed
	}
	return exitBadInput
}

func newRoot(io streams) *cobra.Command {
	var target cluster
	root := newStatus(io, &target)
	root.Use = "kubectl-gpuinv"
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl gpuinv"}
	root.Short = "Which GPUs are in the cluster, which can be used, and why the others cannot"
	root.Long = root.Short + ".\n\n" +
		"Without a command it prints the GpuInventory \"cluster\" as the operator wrote it, like \"status\".\n" +
		"\"scan\" computes the same from Nodes, without the operator."
	root.Args = noCommand
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetIn(io.in)
	root.SetOut(io.out)
	root.SetErr(io.err)
	root.SetFlagErrorFunc(usageError)
	target.register(root.PersistentFlags())
	root.AddCommand(newStatus(io, &target), newScan(io, &target), newWhy(io, &target), newVersion(io))
	return root
}

func usageError(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w; see \"%s --help\"", err, cmd.CommandPath())
}

func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError(cmd, fmt.Errorf("unknown command %q", args[0]))
}
