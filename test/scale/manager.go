package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// measureFew measures the memory on a small cluster.
func (b *bench) measureFew(ctx context.Context) error {
	p, err := b.startAndPublish(ctx, few, nil)
	if err != nil {
		return err
	}
	defer p.stop()
	b.report.few, err = b.memoryAtRest(ctx, p)
	return err
}

// startAndPublish starts the manager on an inventory without a status, and waits until its status has all Nodes.
func (b *bench) startAndPublish(ctx context.Context, nodes int, env []string, args ...string) (*process, error) {
	if err := b.freshInventory(ctx, inventory); err != nil {
		return nil, err
	}
	watchCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	statuses, err := b.watchStatus(watchCtx, inventory)
	if err != nil {
		return nil, err
	}
	p, _, err := b.startManager(env, args...)
	if err != nil {
		return nil, err
	}
	if _, _, err := until(ctx, statuses, 5*time.Minute, func(s published) bool { return is(s.nodes, nodes) }); err != nil {
		p.stop()
		return nil, errors.Join(err, fmt.Errorf("log: %s", p.out.String()))
	}
	return p, nil
}

// measureManager measures the same of the manager as measureFloor of the floor, and what only the manager does.
func (b *bench) measureManager(ctx context.Context) error {
	if err := b.freshInventory(ctx, inventory); err != nil {
		return err
	}
	watchCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	statuses, err := b.watchStatus(watchCtx, inventory)
	if err != nil {
		return err
	}
	p, metrics, err := b.startManager(nil, "--per-node-metrics-limit=0") // as by default above 1,000 nodes
	if err != nil {
		return err
	}
	defer p.stop()
	nodes, _, err1 := until(ctx, statuses, 5*time.Minute, func(s published) bool { return is(s.nodes, b.nodes) })
	held := nodes
	if err1 == nil && nodes.free == nil {
		held, _, err1 = until(ctx, statuses, 5*time.Minute, func(s published) bool { return s.free != nil })
	}
	if err1 != nil {
		return errors.Join(err1, fmt.Errorf("log: %s", p.out.String()))
	}
	r := &b.report
	r.coldStart = [2]time.Duration{nodes.at.Sub(p.started), held.at.Sub(p.started)}
	if r.manager.rss, err = b.memoryAtRest(ctx, p); err != nil {
		return err
	}
	for _, step := range []func(context.Context, *process) error{b.managerIdle, b.managerLatency} {
		if err := step(ctx, p); err != nil {
			return errors.Join(err, fmt.Errorf("log: %s", p.out.String()))
		}
	}
	if r.scrapes, err = scrapes(ctx, metrics); err != nil {
		return err
	}
	if err := b.managerStorm(ctx, p, statuses); err != nil {
		return err
	}
	return b.readSizes(ctx)
}

// managerIdle measures the CPU, and the requests that heartbeats cause.
func (b *bench) managerIdle(ctx context.Context, p *process) (err error) {
	r := &b.report
	before, err := b.requests(ctx)
	if err != nil {
		return err
	}
	if r.manager.cpu, r.idleTraffic, err = b.millicores(ctx, p); err != nil {
		return err
	}
	after, err := b.requests(ctx)
	r.idleRequests = after.since(before)
	return err
}

func (b *bench) managerLatency(ctx context.Context, _ *process) error {
	r := &b.report
	before, err := b.requests(ctx)
	if err != nil {
		return err
	}
	if r.manager.latencies, r.versions, err = b.latency(ctx, inventory); err != nil {
		return err
	}
	after, err := b.requests(ctx)
	r.changeRequests = after.since(before)
	return err
}

// managerStorm makes all Nodes fail and come back. So once a status has not had all of them ready, the next one that has is
// the last one.
func (b *bench) managerStorm(ctx context.Context, p *process, statuses <-chan published) error {
	r := &b.report
	before, err := b.requests(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	drain(statuses)
	type result struct {
		last published
		err  error
	}
	final := make(chan result, 1)
	go func() {
		// At the beginning, all are ready, too.
		_, _, err := until(ctx, statuses, 10*time.Minute, func(s published) bool { return !is(s.ready, b.nodes) })
		var last published
		if err == nil {
			last, _, err = until(ctx, statuses, 10*time.Minute, func(s published) bool { return is(s.ready, b.nodes) })
		}
		final <- result{last, err}
	}()
	ended, err := b.storm(ctx, b.nodes)
	if err != nil {
		return err
	}
	end := <-final
	if end.err != nil {
		return errors.Join(end.err, p.alive())
	}
	if err := pause(ctx, 3*time.Second); err != nil { // the ConfigMap may be written later
		return err
	}
	after, err := b.requests(ctx)
	if err != nil {
		return err
	}
	r.stormLength, r.stormEnd = ended.Sub(began), max(end.last.at.Sub(ended), 0)
	r.stormRequests = after.since(before)
	r.stormMemory, err = p.memory()
	return err
}

// readSizes measures the sizes of the outputs.
func (b *bench) readSizes(ctx context.Context) error {
	var inv v1.GpuInventory
	if err := b.client.Get(ctx, client.ObjectKey{Name: inventory}, &inv); err != nil {
		return fmt.Errorf("get gpuinventory: %w", err)
	}
	text, err := json.Marshal(inv.Status)
	if err != nil {
		return err
	}
	b.report.statusBytes, b.report.rows = len(text), len(inv.Status.Nodes)
	var cm corev1.ConfigMap
	if err := b.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "gpu-node-status"}, &cm); err != nil {
		return fmt.Errorf("get configmap: %w", err)
	}
	for k, v := range cm.Data {
		b.report.configMapBytes += len(k) + len(v)
	}
	return nil
}

// measureRestart starts the manager again on the status that it has written, now with series for each node.
func (b *bench) measureRestart(ctx context.Context) error {
	before, err := b.requests(ctx)
	if err != nil {
		return err
	}
	p, metrics, err := b.startManager(nil, fmt.Sprintf("--per-node-metrics-limit=%d", b.nodes))
	if err != nil {
		return err
	}
	defer p.stop()
	if _, err := b.memoryAtRest(ctx, p); err != nil {
		return err
	}
	after, err := b.requests(ctx)
	if err != nil {
		return err
	}
	b.report.restartRequests = after.since(before)
	b.report.perNodeScrapes, err = scrapes(ctx, metrics)
	return err
}

// measureNodesOnly measures the manager without Pods.
func (b *bench) measureNodesOnly(ctx context.Context) error {
	p, err := b.startAndPublish(ctx, b.nodes, nil, "--allocation=false")
	if err != nil {
		return err
	}
	defer p.stop()
	b.report.nodesOnly, err = b.memoryAtRest(ctx, p)
	return err
}

// measureLists measures the manager as on API servers before Kubernetes 1.34, which do not stream lists.
func (b *bench) measureLists(ctx context.Context) error {
	p, err := b.startAndPublish(ctx, b.nodes, []string{"KUBE_FEATURE_WatchListClient=false"})
	if err != nil {
		return err
	}
	defer p.stop()
	b.report.lists, err = b.memoryAtRest(ctx, p)
	return err
}

// scrape is one scrape of the metrics.
type scrape struct {
	took  time.Duration
	bytes int
}

// scrapes scrapes 50 times after the first scrape, for which the text is rendered.
func scrapes(ctx context.Context, url string) (out []scrape, err error) {
	for range 51 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, fmt.Errorf("scrape: %w", err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			return nil, fmt.Errorf("scrape: %w", err)
		}
		if resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("scrape: %s", resp.Status)
		}
		out = append(out, scrape{time.Since(began), int(n)})
	}
	return out, nil
}

// typical returns the median of the scrapes after the first.
func typical(s []scrape) scrape {
	if len(s) < 2 {
		return scrape{}
	}
	rest := slices.SortedFunc(slices.Values(s[1:]), func(a, b scrape) int { return int(a.took - b.took) })
	return rest[len(rest)/2]
}
