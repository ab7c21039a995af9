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

// loadNodes creates the Nodes with numbers from from up to, but without, to. The API server accepts their status in the same
// request.
func (c *cluster) loadNodes(ctx context.Context, from, to int) error {
	return inParallel(ctx, "nodes", from, to, func(i int) error {
		_, err := c.core.CoreV1().Nodes().Create(ctx, fleet.Node(i), metav1.CreateOptions{})
		return err
	})
}

// loadPods creates Pods that are already bound to Nodes.
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

// inParallel calls do for each number, reports progress every 10 s, and stops at the first error. It ignores errors that say
// that an object already exists: the client retries a create whose answer came too late.
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
