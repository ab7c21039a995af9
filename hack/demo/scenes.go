package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

const (
	healthy  = "examples/healthy.yaml"
	homelab  = "examples/homelab.yaml"
	patience = 30 * time.Second
)

// show walks through the three scenes.
func (d *demo) show(ctx context.Context) error {
	for _, scene := range []func(context.Context) error{d.healthyFleet, d.silentKubelets, d.oneRecovers} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return nil
}

// What the scenes type.
var (
	list     = []string{"get", "gpuinventory"}
	describe = []string{"describe", "gpuinventory", "cluster"}
	table    = []string{"get", "configmap", "gpu-node-status", "--namespace", namespace, "-o", "jsonpath={.data.summary}{'\\n'}{.data.nodes}"}
	events   = []string{"events", "--for", "gpuinventory/cluster", "--namespace", "default"}
)

func (d *demo) healthyFleet(ctx context.Context) error {
	say("Loading " + healthy + ", a fleet that works")
	objects, err := readObjects(healthy)
	if err != nil {
		return err
	}
	if err := d.load(ctx, objects); err != nil {
		return err
	}
	if err := d.waitFor(ctx, func(s *v1.GpuInventoryStatus) bool { return is(s.ReadyGpuNodes, 4) && is(s.FreeGpus, 10) }); err != nil {
		return err
	}
	if err := d.kubectl(ctx, list, table); err != nil {
		return err
	}
	say("Removing it")
	return d.remove(ctx, objects)
}

func (d *demo) silentKubelets(ctx context.Context) error {
	say("Loading " + homelab + ", whose kubelets have stopped")
	objects, err := readObjects(homelab)
	if err != nil {
		return err
	}
	if err := d.load(ctx, objects); err != nil {
		return err
	}
	if err := d.waitFor(ctx, func(s *v1.GpuInventoryStatus) bool { return is(s.TotalGpuNodes, 4) && is(s.ReadyGpuNodes, 0) }); err != nil {
		return err
	}
	if err := d.kubectl(ctx, list, table, describe); err != nil {
		return err
	}
	return d.gauges(ctx)
}

func (d *demo) oneRecovers(ctx context.Context) error {
	say("nuc1's kubelet posts again")
	if err := d.recover(ctx, "nuc1"); err != nil {
		return err
	}
	if err := d.waitFor(ctx, func(s *v1.GpuInventoryStatus) bool { return is(s.ReadyGpuNodes, 1) }); err != nil {
		return err
	}
	return d.kubectl(ctx, list, table, events)
}

// waitFor waits for a status, and for the ConfigMap and the Events that follow it.
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

// kubectl prints commands as typed, and runs them.
func (d *demo) kubectl(ctx context.Context, commands ...[]string) error {
	for _, args := range commands {
		say("$ kubectl " + strings.Join(args, " "))
		cmd := exec.CommandContext(ctx, filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+d.controlPlane.Kubeconfig)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("kubectl %s: %w", args[0], err)
		}
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
