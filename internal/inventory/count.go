package inventory

import (
	"math"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// sum adds up counts of which some may be unknown. The sum of no counts is 0; the sum of only unknown counts is unknown.
type sum struct {
	total                  int32
	hasCounts, hasUnknowns bool
}

func (s *sum) add(n *int32) {
	if n == nil {
		s.hasUnknowns = true
		return
	}
	s.hasCounts = true
	s.total = int32(min(int64(s.total)+int64(*n), math.MaxInt32))
}

func (s *sum) value() *int32 {
	if s.hasUnknowns && !s.hasCounts {
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
	if s.hasUnknowns || !s.hasCounts {
		return nil
	}
	return new(s.total)
}

// addUnits adds without overflow: units come from the Nodes, and a Node may report any number.
func addUnits(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// vendorGpus is what a ready node's units say about the GPUs of one vendor.
type vendorGpus struct {
	vendor v1.Vendor
	// count is the number of GPUs in groups with a known count; counted is false when there is no such group.
	count   int64
	counted bool
	// lost is how many of them unallocatable units stand for; unassigned is how many of those were not yet taken from a group.
	lost, unassigned int64
	held             heldGpus
}

// vendorsOf returns a node's vendors, in a buffer that is used again.
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
			v.counted = true
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

// usable returns how many GPUs of a group can be used now, without those that unhealthy units stand for. It is nil when the
// count is. Call it once for each group of a ready node, in their order.
//
// Units name a vendor, not a product. On a node with several products of a vendor the loss is taken from the first groups: the
// sums are right, and the distribution is a guess.
func (v *vendorGpus) usable(count *int32) *int32 {
	if count == nil {
		return nil
	}
	taken := min(v.unassigned, int64(*count))
	v.unassigned -= taken
	return new(*count - int32(taken))
}

// lostGpus returns how many of a vendor's known GPUs on a ready node its unallocatable units stand for. A device plugin
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
		// There are more GPUs than units. Those that nobody can allocate are not usable.
		lost = max(lost, count-allocatable)
	}
	return min(lost, count)
}

// belongs reports whether units of the resource are a vendor's. On a node with one vendor, all of them are.
func belongs(n *v1.GpuNode, resource string, vendor v1.Vendor) bool {
	if !slices.ContainsFunc(n.Gpus, func(g v1.GpuGroup) bool { return g.Vendor != vendor }) {
		return true
	}
	v, _ := VendorOf(resource)
	return v == vendor
}

// wholeGpus reports whether a unit of the resource is a whole GPU. With MIG that depends on the strategy: with mixed,
// nvidia.com/gpu is for the GPUs without MIG; with single, slices have that name.
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
