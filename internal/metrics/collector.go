package metrics

import (
	"maps"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// State is the inventories as they are now. What it points to is shared and must not change: a change is another pointer.
type State struct {
	// Inventories are the statuses by GpuInventory name, with every row: where rows of nodes that are not ready were left
	// out, the series by reason are absent.
	Inventories map[string]*v1.GpuInventoryStatus
	// Pools are the states of the expected pools by GpuInventory name. One that expects nothing, or that has no status here,
	// has none.
	Pools map[string][]inventory.PoolState
	// Fleet is the inventory of all Nodes, from which the series of the nodes come. Nil: not known yet.
	Fleet *v1.GpuInventoryStatus
}

// Source gives the inventories to expose. False means that this replica does not lead, or that nothing is known yet: then
// there are no inventory series at all. It is called at each scrape, from several goroutines.
type Source func() (State, bool)

// Collector exposes inventories. Register it, or pass it to NewHandler, but not both: its series would occur twice.
type Collector struct {
	source       Source
	perNodeLimit int
	log          logr.Logger

	metrics cache[[]prometheus.Metric]
	texts   cache[[][]byte]

	mu      sync.Mutex
	tooMany bool // per-node series have turned themselves off
}

// NewCollector returns a collector of the inventories that src gives. Series of single nodes are exposed while there are
// at most perNodeLimit GPU nodes; 0 turns them off. When they turn themselves off or on, log says so once.
func NewCollector(src Source, perNodeLimit int, log logr.Logger) *Collector {
	return &Collector{
		source: src, perNodeLimit: perNodeLimit, log: log,
		metrics: cache[[]prometheus.Metric]{render: renderMetrics},
		texts:   cache[[][]byte]{render: renderText},
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, g := range inventoryGauges {
		ch <- g.desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	inventories, nodes := c.metrics.get(c.state())
	for _, m := range inventories {
		ch <- m
	}
	for _, m := range nodes {
		ch <- m
	}
}

// state is what to expose now: without a fleet where single nodes are not exposed.
func (c *Collector) state() State {
	state, ok := c.source()
	switch {
	case !ok:
		return State{}
	case state.Fleet != nil && !c.perNode(state.Fleet):
		return State{Inventories: state.Inventories, Pools: state.Pools}
	default:
		return state
	}
}

// perNode says whether to expose the nodes of the fleet one by one.
func (c *Collector) perNode(fleet *v1.GpuInventoryStatus) bool {
	if c.perNodeLimit <= 0 {
		return false
	}
	nodes := len(fleet.Nodes) + int(fleet.NodesOmitted)
	tooMany := nodes > c.perNodeLimit
	c.mu.Lock()
	changed := tooMany != c.tooMany
	c.tooMany = tooMany
	c.mu.Unlock()
	if changed {
		message := "Turned per-node metrics on again: the GPU nodes are within the limit"
		if tooMany {
			message = "Turned per-node metrics off: there are more GPU nodes than the limit"
		}
		c.log.Info(message, "gpuNodes", nodes, "limit", c.perNodeLimit)
	}
	return !tooMany
}

// cache keeps the samples of the last state, rendered, and builds anew only what comes from another status than before.
type cache[T any] struct {
	render func(*builder) T

	mu          sync.Mutex
	state       State
	inventories T
	nodes       T
}

// get gives the series of the inventories and those of the nodes.
func (c *cache[T]) get(state State) (inventories, nodes T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !maps.Equal(c.state.Inventories, state.Inventories) || !maps.EqualFunc(c.state.Pools, state.Pools, slices.Equal) {
		b := newBuilder(0)
		for _, name := range slices.Sorted(maps.Keys(state.Inventories)) {
			if s := state.Inventories[name]; s != nil {
				addInventory(b, name, s)
				addPools(b, name, state.Pools[name])
			}
		}
		c.inventories = c.render(b)
	}
	if c.state.Fleet != state.Fleet {
		b := newBuilder(0)
		if state.Fleet != nil {
			b = newBuilder(nodeSeries * len(state.Fleet.Nodes))
			addNodes(b, state.Fleet.Nodes)
		}
		c.nodes = c.render(b)
	}
	c.state = state
	return c.inventories, c.nodes
}
