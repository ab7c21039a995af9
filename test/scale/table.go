package main

import (
	"fmt"
	"strings"
)

// row is a line of the table.
type row struct {
	what, unit string
	measured   float64
	// budget is the most that may be measured, or unlimited.
	budget float64
	// floor is what was measured of the floor. It is 0 if the floor does not do this.
	floor float64
	// factor is the greatest ratio to the floor that the budget allows. It is 0 if there is no such budget.
	factor float64
	// fails is the ratio to the floor above which the run fails, at any size. It is 0 if no ratio makes it fail.
	fails float64
	// always is set if the budget holds on any machine and at any size. A run that exceeds it fails.
	always bool
}

const unlimited = -1

// lines returns the rows of the table. A run fails only far above the ratio of the budget: on a small cluster most of the memory
// is that of the process itself, and a busy machine does not slow both programs down equally.
func (r *report) lines(o options) []row {
	m, f := &r.manager, &r.floor
	perChange := func(n int) float64 { return float64(n) / float64(max(o.changes, 1)) }
	storm := max(seconds(r.stormLength+r.stormEnd), 1)
	pods := fmt.Sprintf("%d nodes, %d pods", o.nodes, o.pods)
	const none = unlimited
	return []row{
		{what: "peak RSS, " + pods, unit: "MiB", measured: m.rss.peak, budget: 128, floor: f.rss.peak, factor: 2, fails: 4},
		{what: "RSS at rest, " + pods, unit: "MiB", measured: m.rss.now, budget: 80, floor: f.rss.now, factor: 2, fails: 4},
		{what: "peak RSS after the storm", unit: "MiB", measured: r.stormMemory.peak, budget: none},
		{what: "peak RSS, lists not streamed", unit: "MiB", measured: r.lists.peak, budget: none},
		{what: "RSS at rest, lists not streamed", unit: "MiB", measured: r.lists.now, budget: none},
		{what: "peak RSS, allocation off", unit: "MiB", measured: r.nodesOnly.peak, budget: 80},
		{what: "RSS at rest, allocation off", unit: "MiB", measured: r.nodesOnly.now, budget: 60},
		{what: fmt.Sprintf("RSS at rest, %d nodes", few), unit: "MiB", measured: r.few.now, budget: 48},
		{
			what: fmt.Sprintf("CPU, idle, %d heartbeats and %d pod events", r.idleTraffic.heartbeats, r.idleTraffic.podEvents), unit: "millicores",
			measured: m.cpu, budget: 20, floor: f.cpu,
		},
		{what: "node change to status, p50", unit: "ms", measured: ms(quantile(m.latencies, 0.5)), budget: none, floor: ms(quantile(f.latencies, 0.5)), factor: 2, fails: 6},
		{what: "node change to status, p99", unit: "ms", measured: ms(quantile(m.latencies, 0.99)), budget: none, floor: ms(quantile(f.latencies, 0.99)), factor: 3},
		{what: "status writes to a change", measured: perChange(r.changeRequests.statusWrites()), budget: 1, always: true},
		{what: "versions of the status to a change", measured: perChange(r.versions), budget: 1, always: true},
		{what: "ConfigMap writes to a change", measured: perChange(r.changeRequests.configMapWrites()), budget: 1, always: true},
		{what: "reads to a change", measured: perChange(r.changeRequests.reads()), budget: 0, always: true},
		{what: "writes for all heartbeats", measured: float64(written(r.idleRequests)), budget: 0, always: true},
		{what: "watches that ended meanwhile", measured: float64(r.idleRequests.endedWatches()), budget: 0, always: true},
		{what: "writes for a restart", measured: float64(written(r.restartRequests)), budget: 0, always: true},
		{what: fmt.Sprintf("storm of %d changes in %.0f s: status writes", 2*o.nodes, r.stormLength.Seconds()), unit: "1/s", measured: float64(r.stormRequests.statusWrites()) / storm, budget: 2, always: true},
		{what: "storm: ConfigMap writes", unit: "1/s", measured: float64(r.stormRequests.configMapWrites()) / storm, budget: 2, always: true},
		{what: "storm: Event writes", unit: "1/s", measured: float64(r.stormRequests.events()) / storm, budget: none},
		{what: "storm: last change to final status", unit: "s", measured: seconds(r.stormEnd), budget: 2},
		{what: "cold start to the nodes published", unit: "s", measured: seconds(r.coldStart[0]), budget: 3, floor: seconds(r.floorSynced[0])},
		{what: "cold start to who holds GPUs published", unit: "s", measured: seconds(r.coldStart[1]), budget: 15, floor: seconds(r.floorSynced[1])},
		{what: fmt.Sprintf("scrape, default series, %d kB", typical(r.scrapes).bytes/1000), unit: "ms", measured: ms(typical(r.scrapes).took), budget: 2},
		{what: fmt.Sprintf("scrape, series for each node, %d kB", typical(r.perNodeScrapes).bytes/1000), unit: "ms", measured: ms(typical(r.perNodeScrapes).took), budget: 20},
		{what: "the first of these scrapes", unit: "ms", measured: ms(first(r.perNodeScrapes).took), budget: none},
		{what: "process start to first API request, median of 11", unit: "ms", measured: ms(quantile(r.firstRequest, 0.5)), budget: 50},
		{what: "stripped binary", unit: "MiB", measured: r.binary, budget: 55, always: true},
		{what: "`ReflectMethod` in the binary", measured: float64(r.reflectMethods), budget: 0, always: true},
		{what: fmt.Sprintf("status, %d of %d rows", r.rows, o.nodes), unit: "kB", measured: float64(r.statusBytes) / 1000, budget: 900, always: true},
		{what: "ConfigMap", unit: "kB", measured: float64(r.configMapBytes) / 1000, budget: 900, always: true},
	}
}

// written returns how many writes there were, those of the Lease left out.
func written(q requests) int { return q.statusWrites() + q.configMapWrites() + q.events() }

func (r row) ratio() float64 {
	if r.floor == 0 {
		return 0
	}
	return r.measured / r.floor
}

// cells returns the row as text. Absolute budgets are for the full size, and not judged at others.
func (r row) cells(full bool) []string {
	var budgets []string
	if r.budget != unlimited {
		budgets = append(budgets, "≤ "+amount(r.budget, r.unit))
	}
	if r.factor != 0 {
		budgets = append(budgets, fmt.Sprintf("≤ %.0f × floor", r.factor))
	}
	floor, ratio, within := "", "", ""
	if r.floor != 0 {
		floor, ratio = amount(r.floor, r.unit), fmt.Sprintf("%.2f", r.ratio())
	}
	if len(budgets) > 0 && (full || r.always) {
		within = "yes"
		if r.budget != unlimited && r.measured > r.budget || r.factor != 0 && r.ratio() > r.factor {
			within = "**no**"
		}
	}
	return []string{r.what, strings.Join(budgets, ", "), amount(r.measured, r.unit), floor, ratio, within}
}

// check returns an error if a budget that holds on any machine is exceeded.
func (r row) check() error {
	if r.always && r.measured > r.budget {
		return fmt.Errorf("%s: %s, want at most %s", r.what, amount(r.measured, r.unit), amount(r.budget, r.unit))
	}
	if r.fails != 0 && r.ratio() > r.fails {
		return fmt.Errorf("%s: %.2f times the floor's, want at most %.0f times", r.what, r.ratio(), r.fails)
	}
	return nil
}

// amount returns a number with three significant digits, and its unit.
func amount(v float64, unit string) string {
	digits := 2
	switch {
	case v >= 100 || v == float64(int(v)):
		digits = 0
	case v >= 10:
		digits = 1
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", digits, v, unit))
}

func first(s []scrape) scrape {
	if len(s) == 0 {
		return scrape{}
	}
	return s[0]
}
