package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-inventory/gpu-inventory-operator/test/scale/fleet"
)

// What a quiet cluster of 5,000 Nodes sends: each kubelet reports every 5 minutes, and some pods change.
const (
	heartbeatsPerSecond = 16.7
	podEventsPerSecond  = 100
)

// heartbeat reports the four conditions of a kubelet, of which only the times have changed.
func (c *cluster) heartbeat(ctx context.Context, node int) error {
	now := time.Now().UTC().Format(time.RFC3339)
	body := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":%[1]q},{"type":"MemoryPressure","lastHeartbeatTime":%[1]q},`+
		`{"type":"DiskPressure","lastHeartbeatTime":%[1]q},{"type":"PIDPressure","lastHeartbeatTime":%[1]q}]}}`, now)
	_, err := c.core.CoreV1().Nodes().Patch(ctx, fleet.NodeName(node), types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status")
	return err
}

// setReady makes a Node ready or not ready, as its kubelet would.
func (c *cluster) setReady(ctx context.Context, node int, ready bool) error {
	status, reason, message := corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"
	if !ready {
		status, reason, message = corev1.ConditionFalse, "KubeletNotReady", "container runtime network not ready"
	}
	now := time.Now().UTC().Format(time.RFC3339)
	body := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":%q,"reason":%q,"message":%q,"lastHeartbeatTime":%[4]q,"lastTransitionTime":%[4]q}]}}`,
		status, reason, message, now)
	_, err := c.core.CoreV1().Nodes().Patch(ctx, fleet.NodeName(node), types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status")
	return err
}

// touchPod changes a Pod in a way that the operator does not read.
func (c *cluster) touchPod(ctx context.Context, i, nodes int) error {
	p := fleet.Pod(i, nodes)
	body := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/touched":%q}}}`, time.Now().Format(time.RFC3339Nano))
	_, err := c.core.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, body, metav1.PatchOptions{})
	return err
}

// traffic is how much was sent.
type traffic struct{ heartbeats, podEvents int }

// idle sends what a quiet cluster sends, for the given time.
func (c *cluster) idle(ctx context.Context, length time.Duration, nodes, pods int) (sent traffic, err error) {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var running sync.WaitGroup
	var nodeErr, podErr error
	running.Go(func() {
		sent.heartbeats, nodeErr = atRate(ctx, heartbeatsPerSecond, func() error { return c.heartbeat(ctx, rand.IntN(nodes)) })
	})
	if pods > 0 {
		running.Go(func() {
			sent.podEvents, podErr = atRate(ctx, podEventsPerSecond, func() error { return c.touchPod(ctx, rand.IntN(pods), nodes) })
		})
	}
	running.Wait()
	if nodeErr != nil {
		return sent, fmt.Errorf("send heartbeats: %w", nodeErr)
	}
	if podErr != nil {
		return sent, fmt.Errorf("change pods: %w", podErr)
	}
	return sent, nil
}

// atRate calls do, one call after the other, until ctx ends.
func atRate(ctx context.Context, perSecond float64, do func() error) (n int, err error) {
	tick := time.NewTicker(time.Duration(float64(time.Second) / perSecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return n, nil
		case <-tick.C:
		}
		if err := do(); ctx.Err() != nil {
			return n, nil
		} else if err != nil {
			return n, err
		}
		n++
	}
}

// storm makes every Node fail and come back, and returns when the last change was answered.
func (c *cluster) storm(ctx context.Context, nodes int) (time.Time, error) {
	for _, ready := range []bool{false, true} {
		if err := inParallel(ctx, "changes of nodes", 0, nodes, func(i int) error { return c.setReady(ctx, i, ready) }); err != nil {
			return time.Time{}, err
		}
	}
	return time.Now(), nil
}
