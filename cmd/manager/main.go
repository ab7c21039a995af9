// Command manager is the operator: it keeps GpuInventory objects, a ConfigMap, metrics and Events equal to what the
// cluster's Nodes say about their GPUs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/operator"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with its inputs as arguments. It returns the exit code: 0 after a clean stop, 1 after a failure, 2 for flags
// that cannot work.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "check" {
		return runCheck(ctx, args[1:], stdout, stderr)
	}
	var o options
	fs := flag.NewFlagSet("manager", flag.ContinueOnError)
	o.register(fs)
	if code, ok := parse(fs, args, stderr); !ok {
		return code
	}
	if o.version {
		_, _ = fmt.Fprintln(stdout, "gpu-inventory-operator", version.Version(), version.Revision())
		return 0
	}
	if err := o.validate(); err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 2
	}
	log := newLogger(&o.logging, stderr)
	operator.TuneGC()
	if err := serve(ctx, &o, log); err != nil {
		log.Error(err, "Stopped")
		return 1
	}
	log.Info("Stopped")
	return 0
}

// serve runs the operator until ctx ends.
func serve(ctx context.Context, o *options, log logr.Logger) error {
	cfg, err := operator.RESTConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	return operator.Run(ctx, cfg, o.operator, log)
}

// parse reads the flags. When ok is false the program ends with the code. A mistake takes one line, not the whole help.
func parse(fs *flag.FlagSet, args []string, stderr io.Writer) (code int, ok bool) {
	help := fs.Usage
	fs.Usage = func() {}
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	fs.SetOutput(stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help()
		return 0, false
	case err != nil:
		_, _ = fmt.Fprintf(stderr, "%v; see %s --help\n", err, fs.Name())
		return 2, false
	case fs.NArg() > 0:
		_, _ = fmt.Fprintf(stderr, "unexpected argument %q: %s takes flags only, see --help\n", fs.Arg(0), fs.Name())
		return 2, false
	default:
		return 0, true
	}
}

// newLogger returns the one logger of this program and the libraries in it.
func newLogger(o *loggingOptions, w io.Writer) logr.Logger {
	handlerOptions := &slog.HandlerOptions{Level: o.level}
	var handler slog.Handler = slog.NewJSONHandler(w, handlerOptions)
	if o.format == "text" {
		handler = slog.NewTextHandler(w, handlerOptions)
	}
	log := logr.FromSlogHandler(handler)
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	return log
}
