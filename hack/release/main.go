// Command release makes a release of one commit: the image for every platform, the chart, the plugin's archives; it pushes, signs
// and verifies them.
//
//	release dry-run [--cold]                       against a registry of its own on 127.0.0.1, with a key that it throws away
//	release publish --tag v1.2.3 --identity URL    against the real registry, with cosign's keyless signing
//
// Both take the same steps, so that a rehearsal says something about the release. Neither needs a container engine or helm. The
// commit is built, not the work tree. Whatever it makes on the way is in one temporary folder, which goes when it ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// These names are in the chart and in the docs; a test compares them.
const (
	publicRegistry = "ghcr.io/gpu-inventory"
	imageName      = "gpu-inventory-operator"
	chartName      = "gpu-inventory-operator"
	chartFolder    = "charts/gpu-inventory-operator"
	sourceURL      = "https://github.com/gpu-inventory/gpu-inventory-operator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "release: interrupted; what it had made is removed")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// options says what to release, and where to.
type options struct {
	publish  bool
	root     string // the repository
	tag      string // the Git tag of a real release; empty in a rehearsal
	assets   string // where to leave the files for the release page; empty: nowhere
	outputs  string // file that gets the digests, as lines name=value; empty: none
	identity string // who the certificate of a keyless signature must name
	cold     bool   // compile the second build from nothing
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	if len(args) == 0 || (args[0] != "dry-run" && args[0] != "publish") {
		return o, errors.New("say what to do: release dry-run, or release publish --tag v1.2.3 --identity URL")
	}
	o.publish = args[0] == "publish"
	flags := flag.NewFlagSet("release "+args[0], flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.root, "root", ".", "The repository.")
	flags.StringVar(&o.assets, "assets", "", "Folder for the plugin's archives, their checksums and the SBOMs. Empty: they are made and thrown away.")
	flags.StringVar(&o.outputs, "outputs", "", "File to append the digests of image and chart to, as lines name=value.")
	flags.BoolVar(&o.cold, "cold", false, "Compile the second build with an empty build cache: slower, and proves more.")
	if o.publish {
		flags.StringVar(&o.tag, "tag", "", "The Git tag: v and the chart's version.")
		flags.StringVar(&o.identity, "identity", "", "The workflow that signs, as its certificate names it; the signatures are verified against it.")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if o.publish && (o.tag == "" || o.identity == "") {
		return o, errors.New("release publish needs --tag and --identity")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "gpuinv-release-")
	if err != nil {
		return fmt.Errorf("make a work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	r := &release{options: o, work: work, out: out}
	if err := r.run(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	return nil
}
