package metrics

import (
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

func TestLosingTheLeadTakesTheSeriesAway(t *testing.T) {
	leads := true
	state := stateOf(smallFleet())
	c := NewCollector(func() (State, bool) { return state, leads }, noLimit, logr.Discard())
	led := series(gather(t, c)...)
	leads = false
	if got := series(gather(t, c)...); len(got) != 0 {
		t.Errorf("after losing the lead there are %d series, want none: %v", len(got), got)
	}
	leads = true
	if diff := cmp.Diff(led, series(gather(t, c)...)); diff != "" {
		t.Errorf("series after winning it back (-want +got):\n%s", diff)
	}
}

func TestNextScrapeShowsTheChangeAndNothingElse(t *testing.T) {
	before := smallFleet()
	state := stateOf(before)
	c := NewCollector(func() (State, bool) { return state, true }, noLimit, logr.Discard())
	was := series(gather(t, c)...)

	after := before.DeepCopy()
	after.Nodes = after.Nodes[1:] // the node "lost" has been removed
	after.TotalGpuNodes = new(int32(2))
	state = stateOf(after)
	got := series(gather(t, c)...)
	for name := range got {
		if strings.Contains(name, `node="lost"`) || strings.Contains(name, "NodeStatusUnknown") {
			t.Errorf("the removed node left the series %s", name)
		}
	}
	if want := series(gather(t, collectorOf(stateOf(after)))...); !cmp.Equal(want, got) {
		t.Errorf("series after the change (-want +got):\n%s", cmp.Diff(want, got))
	}

	state = State{
		Inventories: map[string]*v1.GpuInventoryStatus{"other": before}, Fleet: before,
		Pools: map[string][]inventory.PoolState{"other": somePools()},
	}
	want := map[string]float64{}
	for name, value := range was {
		want[strings.Replace(name, `inventory="cluster"`, `inventory="other"`, 1)] = value
	}
	if diff := cmp.Diff(want, series(gather(t, c)...)); diff != "" {
		t.Errorf("series after the object was replaced by another (-want +got):\n%s", diff)
	}
}

func TestPoolsAloneMayChange(t *testing.T) {
	s := smallFleet()
	state := stateOf(s)
	c := NewCollector(func() (State, bool) { return state, true }, 0, logr.Discard())
	const missing = `gpu_inventory_missing_gpus{inventory="cluster",pool="h100"}`
	if got := series(gather(t, c)...)[missing]; got != 8 {
		t.Errorf("%s = %v, want 8", missing, got)
	}
	state.Pools = map[string][]inventory.PoolState{"cluster": {{Name: "h100", ExpectedGpus: new(int32(32)), MissingGpus: new(int32(16))}}}
	if got := series(gather(t, c)...)[missing]; got != 16 {
		t.Errorf("%s = %v after the change, want 16", missing, got)
	}
	state.Pools = nil
	if got, ok := series(gather(t, c)...)[missing]; ok {
		t.Errorf("%s = %v when nothing is expected any more, want none", missing, got)
	}
}

func TestPerNodeSeriesTurnThemselvesOffAndOnAndSayItOnce(t *testing.T) {
	var logged []string
	log := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})
	steps := []struct {
		nodes     int
		wantNodes int
		wantLog   string
	}{
		{nodes: 9, wantNodes: 9},
		{nodes: 10, wantNodes: 10},
		{nodes: 11, wantLog: `"level"=0 "msg"="Turned per-node metrics off: there are more GPU nodes than the limit" "gpuNodes"=11 "limit"=10`},
		{nodes: 12},
		{nodes: 10, wantNodes: 10, wantLog: `"level"=0 "msg"="Turned per-node metrics on again: the GPU nodes are within the limit" "gpuNodes"=10 "limit"=10`},
		{nodes: 10, wantNodes: 10},
	}
	var state State
	c := NewCollector(func() (State, bool) { return state, true }, 10, log)
	for i, step := range steps {
		logged = nil
		state = stateOf(bigFleet(step.nodes))
		if got := testutil.CollectAndCount(textOf{c}, nameNodeReady); got != step.wantNodes {
			t.Errorf("step %d: %d nodes have series, want %d", i, got, step.wantNodes)
		}
		if got := testutil.CollectAndCount(textOf{c}, nameNodes); got != 1 {
			t.Errorf("step %d: the inventory has %d series %s, want 1", i, got, nameNodes)
		}
		if got := strings.Join(logged, "\n"); got != step.wantLog {
			t.Errorf("step %d: logged %q, want %q", i, got, step.wantLog)
		}
	}
}

func TestOmittedRowsCountTowardsTheLimit(t *testing.T) {
	s := bigFleet(5)
	s.NodesOmitted = 6
	c := NewCollector(func() (State, bool) { return stateOf(s), true }, 10, logr.Discard())
	if got := testutil.CollectAndCount(textOf{c}, nameNodeReady); got != 0 {
		t.Errorf("%d nodes have series, want none", got)
	}
}

func TestLimitOfZeroTurnsPerNodeSeriesOffSilently(t *testing.T) {
	log := funcr.New(func(_, args string) { t.Errorf("logged %s, want nothing", args) }, funcr.Options{})
	c := NewCollector(func() (State, bool) { return stateOf(smallFleet()), true }, 0, log)
	if got := testutil.CollectAndCount(textOf{c}, nameNodeReady); got != 0 {
		t.Errorf("%d nodes have series, want none", got)
	}
}

func TestScrapesMayRunAtOnceWhileTheStateChanges(t *testing.T) {
	states := make(chan State, 1)
	states <- stateOf(bigFleet(50))
	c := NewCollector(func() (State, bool) {
		s := <-states
		states <- s
		return s, true
	}, noLimit, logr.Discard())
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(textOf{c})
	done := make(chan error)
	for range 4 {
		go func() {
			for range 20 {
				if _, err := reg.Gather(); err != nil {
					done <- err
					return
				}
				<-states
				states <- stateOf(bigFleet(50))
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
