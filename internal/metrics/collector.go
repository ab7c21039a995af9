package metrics

import (
	"maps"
	"slices"
	"sync"

	"github.com/go-logr/logr"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// State is the inventories as they are now. What it points to is shared and must not change: a change comes as another
// pointer.
type State struct {
	// Inventories are the statuses by GpuInventory name, with every row. If rows of nodes that are not ready were left out,
	// the series by reason are absent.
	Inventories map[string]*v1.GpuInventoryStatus
	// Pools are the states of the expected pools by GpuInventory name. Those of a GpuInventory without a status in
	// Inventories are ignored.
	Pools map[string][]inventory.PoolState
	// Fleet is the inventory of all Nodes, which the series of the nodes come from. It is nil while that is not known.
	Fleet *v1.GpuInventoryStatus
}

// Source returns the inventories to expose. It returns false if this replica does not lead, or if nothing is known yet: then
// there are no inventory series at all. It is called at each scrape, from several goroutines.
type Source func() (State, bool)

// Collector turns inventories into the text of their series, which NewHandler serves.
type Collector struct {
	source       Source
	perNodeLimit int
	log          logr.Logger

	cache cache

	mu      sync.Mutex
	tooMany bool // there were more GPU nodes than the limit at the last scrape
}

// NewCollector returns a Collector of the inventories that src returns. Series of single nodes are exposed while there are
// at most perNodeLimit GPU nodes; 0 turns them off. It is logged when their number turns them off or on again.
func NewCollector(src Source, perNodeLimit int, log logr.Logger) *Collector {
	return &Collector{source: src, perNodeLimit: perNodeLimit, log: log}
}

// texts returns the texts of all series as they are now.
func (c *Collector) texts() (inventories, nodes [][]byte) { return c.cache.get(c.state()) }

// state returns what to expose now. It has no fleet if single nodes are not exposed.
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

// perNode reports whether to expose the nodes of the fleet one by one.
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

// cache keeps the texts of the last state, and renders only those whose part of the state has changed.
type cache struct {
	mu          sync.Mutex
	state       State
	inventories [][]byte
	nodes       [][]byte
}

// get returns the texts of the inventories and those of the nodes.
func (c *cache) get(state State) (inventories, nodes [][]byte) {
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
		c.inventories = renderText(b)
	}
	if c.state.Fleet != state.Fleet {
		b := newBuilder(0)
		if state.Fleet != nil {
			b = newBuilder(nodeSeries * len(state.Fleet.Nodes))
			addNodes(b, state.Fleet.Nodes)
		}
		c.nodes = renderText(b)
	}
	c.state = state
	return c.inventories, c.nodes
}
