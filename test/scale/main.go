// Command scale measures the operator on a large cluster: a real kube-apiserver with etcd, thousands of made-up Nodes and
// Pods, and the manager as a process. In the same run it measures the floor, a bare client-go reflector that does the least.
//
// It fails if a count, or a ratio to the floor, exceeds its budget: those hold on any machine. It prints absolute figures
// beside their budgets for people to judge.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

const (
	namespace = "gpu-inventory"
	inventory = "cluster"
	module    = "github.com/gpu-inventory/gpu-inventory-operator"
)

type options struct {
	nodes, pods int
	rest        time.Duration
	idleFor     time.Duration
	changes     int
	limit       time.Duration
	out         string
}

func main() {
	var o options
	flag.IntVar(&o.nodes, "nodes", 5_000, "GPU nodes, at least 20")
	flag.IntVar(&o.pods, "pods", 100_000, "pods, of which every fifth holds a GPU")
	flag.DurationVar(&o.rest, "rest", 30*time.Second, "how long to leave a process at rest before its memory is read")
	flag.DurationVar(&o.idleFor, "idle", time.Minute, "how long heartbeats are sent")
	flag.IntVar(&o.changes, "changes", 30, "changes whose latency is measured, 2 s apart")
	flag.DurationVar(&o.limit, "limit", 45*time.Minute, "give up after this time")
	flag.StringVar(&o.out, "out", "", "Markdown file to write the table to; empty: none")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	err := run(ctx, o)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	options
	*cluster
	report  report
	manager string // path of the program
	floor   string // path of the program
}

func run(ctx context.Context, o options) (err error) {
	if o.nodes < 20 || o.pods < 0 || o.changes%2 != 0 {
		return errors.New("-nodes must be at least 20, -pods at least 0, -changes even: each node that fails comes back")
	}
	c, err := startCluster()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	b := &bench{options: o, cluster: c, manager: filepath.Join(c.dir, "manager"), floor: filepath.Join(c.dir, "floor")}
	say("building")
	if err := errors.Join(build(ctx, b.manager, module+"/cmd/manager"), build(ctx, b.floor, module+"/test/scale/floor")); err != nil {
		return err
	}
	if err := harness.EnsureNamespace(ctx, c.client, namespace); err != nil {
		return err
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	return b.report.finish(b)
}

// few is the number of Nodes of the small cluster for which memory is measured, too.
const few = 10

// measure runs all phases one after the other, so that the manager and the floor do not share the CPUs.
func (b *bench) measure(ctx context.Context) error {
	for _, phase := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"the program and its start", b.measureStart},
		{"loading the first nodes", func(ctx context.Context) error { return b.loadNodes(ctx, 0, few) }},
		{"a small cluster", b.measureFew},
		{"loading nodes", func(ctx context.Context) error { return b.loadNodes(ctx, few, b.nodes) }},
		{"loading pods", func(ctx context.Context) error { return b.loadPods(ctx, b.pods, b.nodes) }},
		{"the floor", b.measureFloor},
		{"the manager", b.measureManager},
		{"the manager, restarted, with series for each node", b.measureRestart},
		{"the manager, without allocation", b.measureNodesOnly},
		{"the manager, on a server without streamed lists", b.measureLists},
	} {
		say("%s", phase.name)
		if err := phase.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	return nil
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}
