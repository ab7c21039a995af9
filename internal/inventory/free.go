package inventory

import (
	"math"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// Free GPUs are whole GPUs that nobody holds, on nodes that are ready and schedulable. What is held is counted in units,
// and units do not say which GPU they are on. So the rule is to assume the worst case:
//
//   - A held unit is on a healthy GPU, and no two are on the same one: each takes a GPU away, be it a GPU, a time slice, a
//     MIG instance or a partition. With 4 GPUs in 4 slices each, 1 held slice leaves 3 free GPUs, and 4 leave none.
//   - Slices can take no more GPUs than there are behind slices, where it is known how many those are.
//   - Units of several names are added up. When a device plugin and a DRA driver offer the same cards, either of them may have
//     handed out a card.
//   - There are no more free GPUs than free units.
//   - Some units say nothing about whole GPUs: vGPUs, and cards of which pods ask for memory. Then the number is unknown.
//
// The result may be lower than the truth and is never higher. On a node with several products of a vendor, each product's
// number is what is left when all that is held or lost is of that product.

// heldGpus is how many of a vendor's GPUs on a node the held units can be on.
type heldGpus struct {
	// countable is false when that cannot be said.
	countable bool
	// taken is the number of GPUs in the worst case.
	taken int64
	// freeUnits is the number of units that nobody holds.
	freeUnits int64
}

// heldOf returns what is held of a vendor's GPUs, of which there are count.
func heldOf(n *v1.GpuNode, vendor v1.Vendor, count int64) heldGpus {
	if n.Sharing == v1.SharingVGPU {
		return heldGpus{}
	}
	h := heldGpus{countable: true}
	var whole, shares int64
	for i := range n.Resources {
		r := &n.Resources[i]
		if !belongs(n, r.Name, vendor) {
			continue
		}
		class, _ := classOf(r.Name)
		if r.Allocated == nil || class.Kind == gpu.UnitVGPU || class.Kind == gpu.UnitCards {
			return heldGpus{}
		}
		held := max(*r.Allocated, 0)
		h.freeUnits = addUnits(h.freeUnits, max(r.Allocatable-held, 0))
		switch {
		case class.Kind == gpu.UnitAlias && held > 0: // all GPUs under one name
			h.taken = math.MaxInt64
		case wholeGpus(n, r.Name):
			whole = addUnits(whole, r.Capacity)
			h.taken = addUnits(h.taken, held)
		default:
			shares = addUnits(shares, held)
		}
	}
	if behind := count - whole; whole > 0 && behind > 0 {
		shares = min(shares, behind)
	}
	h.taken = min(addUnits(h.taken, shares), count)
	return h
}

// free returns how many of count GPUs of the vendor are free.
func (v *vendorGpus) free(count int64) int32 {
	n := min(count-v.lost-v.held.taken, v.held.freeUnits)
	return int32(min(max(n, 0), math.MaxInt32))
}

// offers reports whether the node takes new pods that want GPUs.
func offers(n *v1.GpuNode) bool { return n.Ready && !n.Unschedulable }

// freeSum adds up free GPUs. Unknown counts are left out, as in any sum. GPUs of which it is not known how many are held make
// the sum unknown.
type freeSum struct {
	sum
	unclear bool
	largest int32
}

// add adds GPUs of a vendor on a node that offers them. counted is false when their count is unknown.
func (s *freeSum) add(v *vendorGpus, count int64, counted bool) {
	switch {
	case !counted:
		s.sum.add(nil)
	case !v.held.countable:
		s.unclear = true
	default:
		n := v.free(count)
		s.sum.add(&n)
		s.largest = max(s.largest, n)
	}
}

// values returns the sum and its largest part; nil: unknown.
func (s *freeSum) values() (total, largest *int32) {
	total = s.value()
	if s.unclear || total == nil {
		return nil, nil
	}
	return total, new(s.largest)
}
