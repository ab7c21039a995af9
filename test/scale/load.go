package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
	"github.com/gpu-inventory/gpu-inventory-operator/test/scale/fleet"
)

// loaders is how many requests are in flight while objects are created or changed in bulk.
const loaders = 16

// loadNodes creates the Nodes from one number up to another, not included. The API server takes a Node's status with it.
func (c *cluster) loadNodes(ctx context.Context, from, to int) error {
	return inParallel(ctx, "nodes", from, to, func(i int) error {
		_, err := c.core.CoreV1().Nodes().Create(ctx, fleet.Node(i), metav1.CreateOptions{})
		return err
	})
}

// loadPods creates Pods that are bound already.
func (c *cluster) loadPods(ctx context.Context, pods, nodes int) error {
	for i := range fleet.Namespaces {
		if err := harness.EnsureNamespace(ctx, c.client, fleet.Namespace(i)); err != nil {
			return err
		}
	}
	return inParallel(ctx, "pods", 0, pods, func(i int) error {
		p := fleet.Pod(i, nodes)
		_, err := c.core.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{})
		return err
	})
}

// inParallel calls do for each number, says every 10 s how far it is, and stops at the first error. An object that is there
// already is none: a create that was answered too late is tried again by the client.
func inParallel(ctx context.Context, what string, from, to int, do func(int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, done atomic.Int64
	next.Store(int64(from))
	var running sync.WaitGroup
	for range loaders {
		running.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= to {
					return
				}
				if err := do(i); err != nil && !apierrors.IsAlreadyExists(err) {
					cancel(fmt.Errorf("%s: number %d: %w", what, i, err))
					return
				}
				done.Add(1)
			}
		})
	}
	finished := make(chan struct{})
	go func() {
		running.Wait()
		close(finished)
	}()
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-finished:
			return context.Cause(ctx)
		case <-tick.C:
			say("%s: %d of %d", what, done.Load(), to-from)
		}
	}
}
