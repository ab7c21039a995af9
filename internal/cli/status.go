package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newStatus(io streams, target *cluster) *cobra.Command {
	output := formatTable
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Print a GpuInventory as the operator wrote it; NAME is \"cluster\" when left out",
		Long: "Print a GpuInventory as the operator wrote it: totals, products, and the nodes that need attention.\n" +
			"NAME is \"" + defaultName + "\" when left out.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError(cmd, fmt.Errorf("one name at a time, got %d", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			name := defaultName
			if len(args) > 0 {
				name = args[0]
			}
			inv, err := target.inventory(cmd.Context(), name)
			if err != nil {
				return failure{err}
			}
			return output.print(io.out, inv, tableOptions{problemsOnly: true})
		},
	}
	output.register(cmd.Flags())
	return cmd
}
