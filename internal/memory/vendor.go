package memory

import (
	"cmp"
	"slices"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// A reading is completed vendor by vendor. What is read live wins. The exceptions are readings that look like news and are
// only what remains when evidence goes:
//
//   - Without labels, units of a shared GPU look like GPUs. The remembered way of sharing and count hold while the product is
//     not named and the same units are there as before.
//   - The machine type is a hint. It does not replace a product that was read from the machine.
//   - One set of labels names one of several products. On a node that is known to have several, a reading that names fewer
//     counts only when units or devices back it.
//   - When one of several resources has not come back yet, the GPUs behind it are missing only for a while.

// mergeVendor completes the live groups of one vendor.
func (r *recollection) mergeVendor(live []v1.GpuGroup, old []group) []group {
	switch {
	case len(old) == 0:
		return r.asRead(live)
	case len(live) == 0:
		r.productRecalled, r.sharingRecalled = true, true
		return r.asLost(old)
	case r.namesOneAtATime(live):
		return r.mergeMixed(live, old)
	case named(old) && hidesProducts(live, old):
		return r.nameUnnamed(live, old)
	case (len(old) > 1 || r.mixed) && !r.conclusive(live):
		return r.mergePartial(live, old)
	default:
		return r.matchAll(live, old)
	}
}

// namesOneAtATime reports whether the reading itself says that there are several products, of which labels name one at a time.
func (r *recollection) namesOneAtATime(live []v1.GpuGroup) bool {
	unnamed := slices.ContainsFunc(live, func(l v1.GpuGroup) bool { return l.Product == "" })
	return unnamed && slices.Contains(r.row.Warnings, v1.WarningMixedProducts)
}

// mergeMixed keeps the products that a better source listed, as long as the number of GPUs still fits.
func (r *recollection) mergeMixed(live []v1.GpuGroup, old []group) []group {
	if len(old) > 1 && sameTotal(live, old) {
		return r.asLost(old)
	}
	return r.asRead(live)
}

// hidesProducts reports whether the reading names no product, or only one that comes from the machine type and differs from
// what was read from the machine.
func hidesProducts(live []v1.GpuGroup, old []group) bool {
	fromMachine := slices.ContainsFunc(old, func(g group) bool { return g.Product != "" && g.Source != v1.SourceCloud })
	return !slices.ContainsFunc(live, func(l v1.GpuGroup) bool {
		remembered := slices.ContainsFunc(old, func(g group) bool { return inventory.SameProduct(g.Product, l.Product) })
		return l.Product != "" && (l.Source != v1.SourceCloud || !fromMachine || remembered)
	})
}

// nameUnnamed gives GPUs that the reading does not name the products that are remembered.
func (r *recollection) nameUnnamed(live []v1.GpuGroup, old []group) []group {
	if len(live) == 1 && len(old) == 1 {
		r.productRecalled = true
		return []group{r.nameGroup(live[0], old[0])}
	}
	now, was := inventory.TotalCount(live), total(old)
	if len(live) == 1 && r.countsGpus(live[0]) && now != nil && was != nil && *now != *was {
		// The number has changed, and nothing says of which product.
		r.productRecalled, r.sharingRecalled = false, false
		return r.asRead(live)
	}
	r.productRecalled = true
	r.sharingRecalled = r.sharingRecalled || !divided(r.row.Sharing)
	return r.asLost(old)
}

// nameGroup returns the one remembered group with what is still read of it.
func (r *recollection) nameGroup(l v1.GpuGroup, g group) group {
	if l.Variant == "" && !divided(r.row.Sharing) {
		r.sharingRecalled = true
	} else {
		if g.Variant != l.Variant {
			g.MemoryPerUnitMiB = nil
		}
		g.Variant = l.Variant
	}
	if r.countsGpus(l) {
		g.Count = l.Count
	}
	if l.Source != v1.SourceCloud {
		g.MemoryMiB, g.MemoryPerUnitMiB = cmp.Or(l.MemoryMiB, g.MemoryMiB), cmp.Or(l.MemoryPerUnitMiB, g.MemoryPerUnitMiB)
	}
	return r.lost(g)
}

// countsGpus reports whether the count of a group without a product is one of GPUs, not of parts of them.
func (r *recollection) countsGpus(l v1.GpuGroup) bool {
	switch {
	case l.Count == nil:
		return false
	case l.Source == v1.SourceResources, l.Source == v1.SourceCloud && backed(&r.row, l):
		return !divided(r.sharing) && !divided(r.row.Sharing) && r.unitsBack(l.Vendor)
	default:
		return l.Source != v1.SourceCloud
	}
}

// conclusive reports whether a reading that names fewer products than are remembered shows that the others have gone.
func (r *recollection) conclusive(live []v1.GpuGroup) bool {
	if disputed(&r.row) {
		return false
	}
	counted := len(unitsOf(r.row.Resources, live[0].Vendor)) > 0 && r.unitsBack(live[0].Vendor)
	return !slices.ContainsFunc(live, func(l v1.GpuGroup) bool {
		return l.Count == nil || l.Product == "" || l.Source != v1.SourceSlices && !counted
	})
}

// mergePartial completes a reading that names some of several products.
func (r *recollection) mergePartial(live []v1.GpuGroup, old []group) []group {
	now, was := inventory.TotalCount(live), total(old)
	if len(old) == 1 && now != nil && was != nil && *now >= *was {
		return r.matchAll(live, old)
	}
	out, rest := r.match(live, old)
	switch {
	case len(rest) == 0 && len(old) > 1:
		return out
	case len(old) == 1 || sameTotal(live, old):
		return r.asLost(old)
	default:
		return append(out, r.asLost(rest)...)
	}
}

// matchAll completes each product that is read. Products that are not read any more have been replaced.
func (r *recollection) matchAll(live []v1.GpuGroup, old []group) []group {
	out, rest := r.match(live, old)
	r.replaced = r.replaced || len(rest) > 0
	return out
}

// match completes each live group by the remembered one of the same product. rest is the remembered groups without a live one.
func (r *recollection) match(live []v1.GpuGroup, old []group) (out, rest []group) {
	rest = slices.Clone(old)
	for _, l := range live {
		i := slices.IndexFunc(rest, func(g group) bool { return inventory.SameProduct(g.Product, l.Product) })
		if i < 0 && len(live) == 1 && len(old) == 1 && inventory.MaybeSameProduct(old[0].Product, l.Product) {
			i = 0
		}
		if i < 0 {
			out = append(out, r.read(l))
			continue
		}
		out = append(out, r.fill(l, rest[i]))
		rest = slices.Delete(rest, i, i+1)
	}
	return out, rest
}

// fill adds to a live group what it lacks.
func (r *recollection) fill(l v1.GpuGroup, g group) group {
	if r.hidesSharing(l, g) {
		r.sharingRecalled = true
		g.Product = cmp.Or(l.Product, g.Product)
		return r.lost(g)
	}
	out := g
	out.GpuGroup = l
	same := l.Variant == g.Variant && r.mode == r.row.WorkloadMode
	out.Count = r.fillCount(l, g, same)
	out.MemoryMiB = cmp.Or(l.MemoryMiB, g.MemoryMiB)
	if same {
		out.MemoryPerUnitMiB = cmp.Or(l.MemoryPerUnitMiB, g.MemoryPerUnitMiB)
	}
	if out.GpuGroup == l {
		return r.read(l)
	}
	out.Source = g.Source
	return r.lost(out)
}

// fillCount returns the count of a live group, or the remembered one. same says that GPUs are divided and used as before. If
// they are not, units that were counted as GPUs turn out to be parts of them: they were miscounted, and no GPU is lost.
func (r *recollection) fillCount(l v1.GpuGroup, g group, same bool) *int32 {
	switch {
	case l.Count == nil && !same && g.Source == v1.SourceResources:
		return nil
	case l.Count == nil || g.Count == nil:
		return cmp.Or(l.Count, g.Count)
	case *l.Count < *g.Count && l.Source == v1.SourceResources && !r.unitsBack(l.Vendor):
		return g.Count
	default:
		return l.Count
	}
}

// hidesSharing reports whether the units of a group used to be shares of GPUs and look like GPUs now only because evidence of
// sharing has gone: the units themselves, or, where the product was not discovered, what else showed sharing beside the
// same units.
func (r *recollection) hidesSharing(l v1.GpuGroup, g group) bool {
	if !divided(r.sharing) || divided(r.row.Sharing) {
		return false
	}
	was, is := unitsOf(r.units, l.Vendor), unitsOf(r.row.Resources, l.Vendor)
	switch {
	case len(is) == 0:
		return len(was) > 0 || !g.live
	case len(was) == 0:
		return false
	case !r.unitsBack(l.Vendor):
		return true
	default:
		discovered := l.Source != v1.SourceResources && l.Source != v1.SourceCloud
		return sameUnits(was, is) && (!g.live || !discovered)
	}
}

// asRead returns the groups as they were read.
func (r *recollection) asRead(live []v1.GpuGroup) []group {
	out := make([]group, 0, len(live))
	for _, l := range live {
		out = append(out, r.read(l))
	}
	return out
}

// asLost returns the remembered groups as they are, none of them read any more.
func (r *recollection) asLost(old []group) []group {
	out := make([]group, 0, len(old))
	for _, g := range old {
		out = append(out, r.lost(g))
	}
	return out
}

func (r *recollection) read(l v1.GpuGroup) group {
	return group{GpuGroup: l, live: true, seen: r.now}
}

// lost returns a group as no longer read. Its time is that of the loss, and stays.
func (r *recollection) lost(g group) group {
	if g.live && !g.seeded {
		g.seen = r.now
	}
	g.live = false
	return g
}

func named(groups []group) bool {
	return slices.ContainsFunc(groups, func(g group) bool { return g.Product != "" })
}

func total(groups []group) *int32 {
	plain := make([]v1.GpuGroup, 0, len(groups))
	for _, g := range groups {
		plain = append(plain, g.GpuGroup)
	}
	return inventory.TotalCount(plain)
}

// sameTotal reports whether the live groups have as many GPUs as the remembered ones. It is false when either is not known.
func sameTotal(live []v1.GpuGroup, old []group) bool {
	now, was := inventory.TotalCount(live), total(old)
	return now != nil && was != nil && *now == *was
}
