// Command demo shows the operator on an API server of its own: it starts one, installs the chart, loads the Nodes of
// examples/homelab.yaml, starts the manager as the chart's ServiceAccount and prints what a user would type and see.
//
// It stays up until it is interrupted and then removes all that it made; with DEMO_ONCE=1 it ends by itself. It exits with
// 1 when what it shows is not what it should be.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

const (
	namespace = "gpu-inventory"
	release   = "gpu-inventory-operator"
	chart     = "charts/gpu-inventory-operator"
	nodesFile = "examples/homelab.yaml"
	patience  = 30 * time.Second
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
	say("Loading the Nodes of " + nodesFile)
	nodes, err := harness.ReadNodes(nodesFile)
	if err != nil {
		return err
	}
	for i := range nodes {
		if err := harness.CreateNode(ctx, c, &nodes[i]); err != nil {
			return err
		}
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

// inventoryArgs gives the manager what the chart gives its pods: the GpuInventory to create.
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

func (d *demo) show(ctx context.Context) error {
	if err := d.waitFor(ctx, func(s *v1.GpuInventoryStatus) bool { return is(s.TotalGpuNodes, 4) && is(s.ReadyGpuNodes, 0) }); err != nil {
		return err
	}
	describe := []string{"describe", "gpuinventory", "cluster"}
	table := []string{"get", "configmap", "gpu-node-status", "--namespace", namespace, "-o", "jsonpath={.data.summary}{'\\n'}{.data.nodes}"}
	for _, args := range [][]string{{"get", "gpuinventory"}, describe, table} {
		if err := d.kubectl(ctx, args...); err != nil {
			return err
		}
	}
	if err := d.gauges(ctx); err != nil {
		return err
	}
	say("nuc1's kubelet posts again")
	if err := d.recover(ctx, "nuc1"); err != nil {
		return err
	}
	if err := d.waitFor(ctx, func(s *v1.GpuInventoryStatus) bool { return is(s.ReadyGpuNodes, 1) }); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"get", "gpuinventory"}, table,
		{"events", "--for", "gpuinventory/cluster", "--namespace", "default"},
	} {
		if err := d.kubectl(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// waitFor waits for the status, and until the ConfigMap and an Event have followed it.
func (d *demo) waitFor(ctx context.Context, as func(*v1.GpuInventoryStatus) bool) error {
	deadline := time.Now().Add(patience)
	for {
		var inv v1.GpuInventory
		if err := d.controlPlane.Client.Get(ctx, client.ObjectKey{Name: "cluster"}, &inv); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("get gpuinventory: %w", err)
		}
		var cm corev1.ConfigMap
		err := d.controlPlane.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "gpu-node-status"}, &cm)
		if err == nil && as(&inv.Status) && strings.Contains(cm.Data["summary"], fmt.Sprintf("ready=%d ", *inv.Status.ReadyGpuNodes)) {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the inventory is not as it should be after %s: %+v\nThe manager's log:\n%s", patience, inv.Status, d.manager.Log())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	// Events follow the write, from a queue.
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Second):
		return nil
	}
}

// recover makes a Node Ready again, as its kubelet would.
func (d *demo) recover(ctx context.Context, name string) error {
	c := d.controlPlane.Client
	var node corev1.Node
	if err := c.Get(ctx, client.ObjectKey{Name: name}, &node); err != nil {
		return fmt.Errorf("get node %s: %w", name, err)
	}
	before := node.DeepCopy()
	for i := range node.Status.Conditions {
		if cond := &node.Status.Conditions[i]; cond.Type == corev1.NodeReady {
			cond.Status, cond.Reason, cond.Message = corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"
			cond.LastTransitionTime, cond.LastHeartbeatTime = metav1.Now(), metav1.Now()
		}
	}
	if err := c.Status().Patch(ctx, &node, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("patch status of node %s: %w", name, err)
	}
	return nil
}

// kubectl prints a command as typed, and runs it.
func (d *demo) kubectl(ctx context.Context, args ...string) error {
	say("$ kubectl " + strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+d.controlPlane.Kubeconfig)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kubectl %s: %w", args[0], err)
	}
	return nil
}

// gauges prints the fleet's metrics.
func (d *demo) gauges(ctx context.Context) error {
	say("$ curl -s " + d.manager.MetricsURL + "/metrics | grep ^gpu_inventory_")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.manager.MetricsURL+"/metrics", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("scrape the manager: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is lost
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("scrape the manager: %w", err)
	}
	for line := range strings.Lines(string(body)) {
		if strings.HasPrefix(line, "gpu_inventory_") {
			fmt.Print(line)
		}
	}
	return nil
}

func is(n *int32, want int32) bool { return n != nil && *n == want }

func say(line string) { fmt.Printf("\n==> %s\n", line) }
