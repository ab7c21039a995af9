package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// figures are what is measured of both the manager and the floor.
type figures struct {
	rss       memory
	cpu       float64 // millicores, while the cluster idles
	latencies []time.Duration
}

// startManager starts the manager with the administrator's credentials, and returns it with the URL of its metrics.
func (b *bench) startManager(env []string, args ...string) (*process, string, error) {
	metrics, err1 := freeAddress()
	probes, err2 := freeAddress()
	if err := errors.Join(err1, err2); err != nil {
		return nil, "", err
	}
	p, err := start(b.manager, env, append([]string{
		"--kubeconfig=" + b.kubeconfig, "--namespace=" + namespace,
		"--metrics-bind-address=" + metrics, "--metrics-secure=false", "--health-probe-bind-address=" + probes,
	}, args...)...)
	return p, "http://" + metrics + "/metrics", err
}

// memoryAtRest waits until a process has come to rest, and returns its memory.
func (b *bench) memoryAtRest(ctx context.Context, p *process) (memory, error) {
	if err := errors.Join(pause(ctx, b.rest), p.alive()); err != nil {
		return memory{}, err
	}
	return p.memory()
}

// millicores returns the CPU that a process uses while the cluster idles.
func (b *bench) millicores(ctx context.Context, p *process) (float64, traffic, error) {
	before, err := p.cpu()
	if err != nil {
		return 0, traffic{}, err
	}
	began := time.Now()
	sent, err := b.idle(ctx, b.idleFor, b.nodes, b.pods)
	if err != nil {
		return 0, sent, err
	}
	after, err := p.cpu()
	return 1000 * float64(after-before) / float64(time.Since(began)), sent, err
}

// changeInterval is longer than the minimum time between two writes, so that this time is not part of the latency.
const changeInterval = 2 * time.Second

// latency changes one Node after the other. It measures the time from the API server's answer to the change until a watcher
// has a status of object that shows it. It also returns how many versions of the status there were.
func (b *bench) latency(ctx context.Context, object string) (took []time.Duration, versions int, err error) {
	watchCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	statuses, err := b.watchStatus(watchCtx, object)
	if err != nil {
		return nil, 0, err
	}
	if err := pause(ctx, changeInterval); err != nil {
		return nil, 0, err
	}
	drain(statuses)
	for i := range b.changes {
		node, ready := i/2*7%b.nodes, i%2 == 1 // each Node fails and comes back
		if err := b.setReady(ctx, node, ready); err != nil {
			return nil, 0, fmt.Errorf("change node: %w", err)
		}
		answered := time.Now()
		want := b.nodes
		if !ready {
			want--
		}
		p, n, err := until(ctx, statuses, time.Minute, func(p published) bool { return is(p.ready, want) })
		if err != nil {
			return nil, 0, err
		}
		took, versions = append(took, max(p.at.Sub(answered), 0)), versions+n
		if err := pause(ctx, changeInterval-time.Since(answered)); err != nil {
			return nil, 0, err
		}
		versions += drain(statuses)
	}
	return took, versions, nil
}

// quantile returns the smallest duration that a given share of the durations does not exceed.
func quantile(of []time.Duration, share float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
