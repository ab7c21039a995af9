package inventory

import (
	"math"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// sum adds counts of which some may be unknown. Nothing to add is a known 0; only unknown counts add up to unknown, never
// to 0.
type sum struct {
	total          int32
	known, unknown bool
}

func (s *sum) add(n *int32) {
	if n == nil {
		s.unknown = true
		return
	}
	s.known = true
	s.total = int32(min(int64(s.total)+int64(*n), math.MaxInt32))
}

func (s *sum) value() *int32 {
	if s.unknown && !s.known {
		return nil
	}
	return &s.total
}

// addUnits adds without wrapping round: units come from the Nodes, and a Node may claim anything.
func addUnits(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// usableByGroup is how many GPUs of each of a node's product groups can be used now: none on a node that is not ready,
// unknown (nil) where the count is, and without those that unhealthy units stand for.
//
// Units name a vendor, not a product: on a node with several products of a vendor the loss is taken from the first groups.
// Sums are right then, the attribution is a guess.
func usableByGroup(n *v1.GpuNode) []*int32 {
	out := make([]*int32, len(n.Gpus))
	lost := map[v1.Vendor]int32{}
	for i, g := range n.Gpus {
		if g.Count == nil {
			continue
		}
		if !n.Ready {
			out[i] = new(int32(0))
			continue
		}
		remaining, ok := lost[g.Vendor]
		if !ok {
			remaining = lostGpus(n, g.Vendor)
		}
		taken := min(remaining, *g.Count)
		lost[g.Vendor] = remaining - taken
		out[i] = new(*g.Count - taken)
	}
	return out
}

// lostGpus is how many of a vendor's known GPUs on a ready node its unallocatable units stand for. A device plugin
// withdraws units, not GPUs: on a shared GPU many units stand for one, and a GPU with one bad unit is not counted as usable.
func lostGpus(n *v1.GpuNode, vendor v1.Vendor) int32 {
	var count, lost, allocatable, shares, badShares int64
	for _, g := range n.Gpus {
		if g.Vendor == vendor && g.Count != nil {
			count += int64(*g.Count)
		}
	}
	for _, r := range n.Resources {
		if !belongs(n, r.Name, vendor) {
			continue
		}
		bad := max(r.Capacity-r.Allocatable, 0)
		allocatable = addUnits(allocatable, r.Allocatable)
		if wholeGpus(n, r.Name) {
			lost = addUnits(lost, bad)
			continue
		}
		shares, badShares = addUnits(shares, r.Capacity), addUnits(badShares, bad)
	}
	if badShares > 0 {
		// count / shares GPUs stand behind one unit; rounded up, so that a partly bad GPU counts as lost.
		lost = addUnits(lost, int64(math.Ceil(float64(badShares)*float64(count)/float64(shares))))
	}
	if shares == 0 {
		// More GPUs known than units offered: those that nobody can allocate are not usable.
		lost = max(lost, count-allocatable)
	}
	return int32(min(lost, count))
}

// belongs reports whether units of the resource are a vendor's. On a node with one vendor all are.
func belongs(n *v1.GpuNode, resource string, vendor v1.Vendor) bool {
	if !slices.ContainsFunc(n.Gpus, func(g v1.GpuGroup) bool { return g.Vendor != vendor }) {
		return true
	}
	if driver, ok := strings.CutPrefix(resource, draPrefix); ok {
		v, _ := gpu.DriverVendor(driver, gpu.Options{})
		return v == vendor
	}
	class, _ := gpu.Classify(resource, gpu.Options{})
	return class.Vendor == vendor
}

// wholeGpus reports whether a unit of the resource is a whole GPU. With MIG that depends on the strategy: mixed leaves
// nvidia.com/gpu to the GPUs without MIG, single hands out slices under that very name.
func wholeGpus(n *v1.GpuNode, resource string) bool {
	switch n.Sharing {
	case "", v1.SharingNone:
		return true
	case v1.SharingMIG:
		mixed := slices.ContainsFunc(n.Gpus, func(g v1.GpuGroup) bool { return g.Variant == "MIG-mixed" })
		return mixed && !strings.Contains(resource, "mig-") && !strings.HasPrefix(resource, draPrefix)
	default:
		return false
	}
}

// draPrefix starts the resource names that stand for the devices of a DRA driver.
const draPrefix = "dra:"
