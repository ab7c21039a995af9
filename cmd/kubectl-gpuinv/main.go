// Command kubectl-gpuinv is the kubectl plugin "kubectl gpuinv".
package main

import (
	"context"
	"os"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/cli"
)

func main() {
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
