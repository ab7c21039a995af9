package cli

import (
	"context"
	"io"

	"github.com/spf13/pflag"
)

// input is where Nodes are read from: files, or the cluster when there are none.
type input struct {
	cluster *cluster
	files   []string
	stdin   io.Reader
}

func (in *input) register(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&in.files, "filename", "f", nil, "`FILE` with Nodes; - is standard input; may be repeated")
}

// all reads everything that an inventory is made from. Pods of a cluster are read only when asked for.
func (in *input) all(ctx context.Context, pods bool) (*snapshot, error) {
	s := in.cluster.emptySnapshot()
	if len(in.files) > 0 {
		return s, readFiles(in.files, in.stdin, s)
	}
	if err := in.cluster.scan(ctx, pods, s); err != nil {
		return s, failure{err}
	}
	return s, nil
}

// node reads what explains one Node.
func (in *input) node(ctx context.Context, name string) (*snapshot, error) {
	s := in.cluster.emptySnapshot()
	if len(in.files) > 0 {
		return s, readFiles(in.files, in.stdin, s)
	}
	return s, in.cluster.nodeWithSlices(ctx, name, s)
}
