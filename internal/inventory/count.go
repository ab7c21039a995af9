package inventory

import (
	"math"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
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
	return new(s.total)
}

// TotalCount adds up the counts of groups. The sum is nil, unknown, when one of them is or there is none.
func TotalCount(groups []v1.GpuGroup) *int32 {
	var s sum
	for i := range groups {
		s.add(groups[i].Count)
	}
	if s.unknown || !s.known {
		return nil
	}
	return new(s.total)
}

// addUnits adds without wrapping round: units come from the Nodes, and a Node may claim anything.
func addUnits(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// vendorGpus is what a ready node's units say about the GPUs of one vendor.
type vendorGpus struct {
	vendor v1.Vendor
	// count is the number of GPUs of which the count is known; known is false when there are none.
	count int64
	known bool
	// lost is how many of them unallocatable units stand for; unassigned is how many of those no group was charged with yet.
	lost, unassigned int64
	held             heldGpus
}

// vendorsOf reads a node's vendors into a buffer.
func vendorsOf(n *v1.GpuNode, buffer []vendorGpus) []vendorGpus {
	out := buffer[:0]
	for i := range n.Gpus {
		g := &n.Gpus[i]
		v := ofVendor(out, g.Vendor)
		if v == nil {
			out = append(out, vendorGpus{vendor: g.Vendor})
			v = &out[len(out)-1]
		}
		if g.Count != nil {
			v.count += int64(*g.Count)
			v.known = true
		}
	}
	for i := range out {
		v := &out[i]
		v.lost = lostGpus(n, v.vendor, v.count)
		v.unassigned = v.lost
		v.held = heldOf(n, v.vendor, v.count)
	}
	return out
}

func ofVendor(vendors []vendorGpus, vendor v1.Vendor) *vendorGpus {
	for i := range vendors {
		if vendors[i].vendor == vendor {
			return &vendors[i]
		}
	}
	return nil
}

// usable is how many GPUs of a group can be used now: without those that unhealthy units stand for, unknown (nil) where the
// count is. It is asked once for each group of a ready node, in their order.
//
// Units name a vendor, not a product: on a node with several products of a vendor the loss is taken from the first groups.
// Sums are right then, the attribution is a guess.
func (v *vendorGpus) usable(count *int32) *int32 {
	if count == nil {
		return nil
	}
	taken := min(v.unassigned, int64(*count))
	v.unassigned -= taken
	return new(*count - int32(taken))
}

// lostGpus is how many of a vendor's known GPUs on a ready node its unallocatable units stand for. A device plugin
// withdraws units, not GPUs: on a shared GPU many units stand for one, and a GPU with one bad unit is not counted as usable.
func lostGpus(n *v1.GpuNode, vendor v1.Vendor, count int64) int64 {
	var lost, allocatable, shares, badShares int64
	for i := range n.Resources {
		r := &n.Resources[i]
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
	return min(lost, count)
}

// belongs reports whether units of the resource are a vendor's. On a node with one vendor all are.
func belongs(n *v1.GpuNode, resource string, vendor v1.Vendor) bool {
	if !slices.ContainsFunc(n.Gpus, func(g v1.GpuGroup) bool { return g.Vendor != vendor }) {
		return true
	}
	v, _ := VendorOf(resource)
	return v == vendor
}

// wholeGpus reports whether a unit of the resource is a whole GPU. With MIG that depends on the strategy: mixed leaves
// nvidia.com/gpu to the GPUs without MIG, single hands out slices under that very name.
func wholeGpus(n *v1.GpuNode, resource string) bool {
	switch n.Sharing {
	case "", v1.SharingNone:
		return true
	case v1.SharingMIG:
		mixed := slices.ContainsFunc(n.Gpus, func(g v1.GpuGroup) bool { return g.Variant == "MIG-mixed" })
		return mixed && !strings.Contains(resource, "mig-") && !isDRA(resource)
	default:
		return false
	}
}
