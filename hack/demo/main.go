// Command demo shows the operator at work: it starts an API server, installs the chart, starts the manager as the chart's
// ServiceAccount and prints what a user would type and see, first for the Nodes of examples/healthy.yaml and then for those of
// examples/homelab.yaml.
//
// It stays up until it is interrupted, and then removes everything that it made. With DEMO_ONCE=1 it ends by itself. It exits
// with 1 if the inventory is not what it should be.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

const (
	namespace = "gpu-inventory"
	release   = "gpu-inventory-operator"
	chart     = "charts/gpu-inventory-operator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctrl.SetLogger(logr.Discard())
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// demo is the running pieces.
type demo struct {
	controlPlane *harness.ControlPlane
	manager      *harness.Manager
}

func run(ctx context.Context) (err error) {
	d := &demo{}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.start(ctx); err != nil {
		return err
	}
	if err := d.show(ctx); err != nil {
		return err
	}
	if os.Getenv("DEMO_ONCE") != "" {
		return nil
	}
	say("All of this stays up. Look around with:")
	fmt.Printf("export KUBECONFIG=%s PATH=%s:$PATH\n", d.controlPlane.Kubeconfig, os.Getenv("KUBEBUILDER_ASSETS"))
	fmt.Printf("curl %s/metrics\n\nInterrupt (Ctrl-C) to end it.\n", d.manager.MetricsURL)
	select {
	case <-ctx.Done():
	case <-d.manager.Exited():
		return fmt.Errorf("the manager has ended; its log:\n%s", d.manager.Log())
	}
	return nil
}

func (d *demo) start(ctx context.Context) error {
	say("Starting a kube-apiserver and etcd")
	var err error
	if d.controlPlane, err = harness.StartControlPlane(); err != nil {
		return err
	}
	c := d.controlPlane.Client
	say("Installing the chart, as `helm install` does")
	if err := harness.EnsureNamespace(ctx, c, namespace); err != nil {
		return err
	}
	helm := harness.Helm{Kubeconfig: d.controlPlane.Kubeconfig, Chart: chart, Release: release, Namespace: namespace}
	if _, err := helm.Install(ctx, nil); err != nil {
		return fmt.Errorf("install chart: %w", err)
	}
	say("Starting the manager as the ServiceAccount of the chart, with leader election")
	bin, err := harness.BuildManager(ctx, d.controlPlane.Dir())
	if err != nil {
		return err
	}
	account, err := harness.ServiceAccountConfig(ctx, d.controlPlane.Config, namespace, release)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(d.controlPlane.Dir(), "manager.kubeconfig")
	if err := harness.WriteKubeconfig(account, kubeconfig); err != nil {
		return err
	}
	args, err := d.inventoryArgs(ctx)
	if err != nil {
		return err
	}
	d.manager, err = harness.StartManager(bin, kubeconfig, namespace, args...)
	return err
}

// inventoryArgs returns the flags that the chart gives its pods so that they create the GpuInventory.
func (d *demo) inventoryArgs(ctx context.Context) ([]string, error) {
	var deployment appsv1.Deployment
	if err := d.controlPlane.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: release}, &deployment); err != nil {
		return nil, fmt.Errorf("get deployment: %w", err)
	}
	return harness.InventoryArgs(ctx, d.controlPlane.Client, &deployment, d.controlPlane.Dir())
}

func (d *demo) stop() error {
	var errs []error
	if d.manager != nil {
		if err := d.manager.Stop(); err != nil {
			errs = append(errs, fmt.Errorf("stop manager: %w", err))
		}
	}
	if d.controlPlane != nil {
		errs = append(errs, d.controlPlane.Stop())
	}
	return errors.Join(errs...)
}

func say(line string) { fmt.Printf("\n==> %s\n", line) }
