package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/gpu-inventory/gpu-inventory-operator/test/scale/document"
)

// report is what was measured.
type report struct {
	manager, floor figures
	floorSynced    [2]time.Duration // Nodes, Pods
	binary         float64          // MiB
	reflectMethods int              // places that look up a method by its name
	firstRequest   []time.Duration
	few            memory
	coldStart      [2]time.Duration // Nodes, allocation published
	idleTraffic    traffic
	idleRequests   requests
	changeRequests requests
	versions       int // of the status, while changes were made one by one
	scrapes        []scrape
	perNodeScrapes []scrape

	stormLength, stormEnd time.Duration
	stormRequests         requests
	stormMemory           memory

	statusBytes, configMapBytes, rows int
	restartRequests                   requests
	nodesOnly, lists                  memory
}

func ms(d time.Duration) float64      { return float64(d) / float64(time.Millisecond) }
func seconds(d time.Duration) float64 { return d.Seconds() }

// full reports whether the run has the size for which the absolute budgets are.
func (o options) full() bool { return o.nodes >= 5_000 && o.pods >= 100_000 }

// finish prints the table, writes it to the document and returns the budgets that were exceeded, as far as they make the run
// fail.
func (r *report) finish(b *bench) error {
	var cells [][]string
	var missed []error
	for _, line := range r.lines(b.options) {
		cells = append(cells, line.cells(b.full()))
		missed = append(missed, line.check())
	}
	text := conditions(b) + "\n" + document.Table([]string{"what", "budget", "measured", "floor", "ratio", "within"}, cells)
	fmt.Print(text)
	if b.out != "" {
		missed = append(missed, document.Replace(b.out, "scale", text), document.Replace(b.out, "numbers", r.numbers(b.options)), r.writeMemory(b.options))
	}
	return errors.Join(missed...)
}

// numbers returns the five numbers that say most, as a Markdown list.
func (r *report) numbers(o options) string {
	m := &r.manager
	return fmt.Sprintf(`- **%s** of memory for %d nodes and %d pods, and %s at the peak, when everything is read for the first time
- **%s** from the change of a node until a client that watches has the new status, half of the time; the API server takes most of it
- **%d writes** for %d heartbeats, and %d for a restart of the operator
- **%s** to answer a scrape
- **%s** for the program, as a stripped binary
`, amount(m.rss.now, "MiB"), o.nodes, o.pods, amount(m.rss.peak, "MiB"),
		amount(ms(quantile(m.latencies, 0.5)), "ms"), written(r.idleRequests), r.idleTraffic.heartbeats, written(r.restartRequests),
		amount(ms(typical(r.scrapes).took), "ms"), amount(r.binary, "MiB"))
}
