package inventory

import (
	"cmp"
	"slices"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// A reading is completed vendor by vendor. What is read live wins, with these exceptions, in which something that looks like
// news is what remains when evidence goes:
//
//   - Without labels, units of a shared GPU look like GPUs. While the product is not named, and while the same units are there
//     as before, the remembered way of sharing and count hold.
//   - The machine type is a hint. It does not replace a product that was read from the machine.
//   - One label set names one of several products. On a node that is known to have several, a reading that names fewer
//     counts only when units or devices back it.
//   - A resource of several that has not come back yet takes GPUs with it only for a while.

// mergeVendor completes the live groups of one vendor.
func (r *recollection) mergeVendor(live []v1.GpuGroup, old []fact) []fact {
	switch {
	case len(old) == 0:
		return r.read(live)
	case len(live) == 0:
		r.unnamed, r.shared = true, true
		return r.keep(old)
	case r.flipping(live):
		return r.mergeMixed(live, old)
	case named(old) && r.hidden(live, old):
		return r.reveal(live, old)
	case (len(old) > 1 || r.mixed) && !r.conclusive(live):
		return r.restore(live, old)
	default:
		return r.match(live, old)
	}
}

// flipping reports whether the reading itself says that there are several products and that labels name one at a time.
func (r *recollection) flipping(live []v1.GpuGroup) bool {
	unnamed := slices.ContainsFunc(live, func(g v1.GpuGroup) bool { return g.Product == "" })
	return unnamed && slices.Contains(r.row.Warnings, v1.WarningMixedProducts)
}

// mergeMixed keeps the composition that a better source listed, as long as the number still fits.
func (r *recollection) mergeMixed(live []v1.GpuGroup, old []fact) []fact {
	if now, was := total(live), total(groupsOf(old)); len(old) > 1 && now != nil && was != nil && *now == *was {
		return r.keep(old)
	}
	return r.read(live)
}

// hidden reports whether nothing names the GPUs, or nothing but the machine type, otherwise than the machine did.
func (r *recollection) hidden(live []v1.GpuGroup, old []fact) bool {
	better := slices.ContainsFunc(old, func(f fact) bool { return f.Product != "" && f.Source != v1.SourceCloud })
	return !slices.ContainsFunc(live, func(g v1.GpuGroup) bool {
		known := slices.ContainsFunc(old, func(f fact) bool { return sameProduct(f.Product, g.Product) })
		return g.Product != "" && (g.Source != v1.SourceCloud || !better || known)
	})
}

// reveal names GPUs that the reading does not name.
func (r *recollection) reveal(live []v1.GpuGroup, old []fact) []fact {
	r.unnamed = true
	if len(live) == 1 && len(old) == 1 {
		return []fact{r.revive(live[0], old[0])}
	}
	r.shared = r.shared || !divided(r.row.Sharing)
	now, was := total(live), total(groupsOf(old))
	if len(live) != 1 || !r.trusted(live[0]) || now == nil || was == nil || *now == *was {
		return r.keep(old)
	}
	// The number has changed, and nothing says of which product.
	r.unnamed, r.shared = false, false
	return r.read(live)
}

// revive gives the one remembered product back, with what is still read of it.
func (r *recollection) revive(l v1.GpuGroup, f fact) fact {
	if l.Variant == "" && !divided(r.row.Sharing) {
		r.shared = true
	} else {
		if f.Variant != l.Variant {
			f.MemoryPerUnitMiB = nil
		}
		f.Variant = l.Variant
	}
	if r.trusted(l) {
		f.Count = l.Count
	}
	if l.Source != v1.SourceCloud {
		f.MemoryMiB, f.MemoryPerUnitMiB = either(l.MemoryMiB, f.MemoryMiB), either(l.MemoryPerUnitMiB, f.MemoryPerUnitMiB)
	}
	return r.lose(f)
}

// trusted reports whether the count of a group that nothing names is one of GPUs.
func (r *recollection) trusted(l v1.GpuGroup) bool {
	switch {
	case l.Count == nil:
		return false
	case l.Source == v1.SourceResources, l.Source == v1.SourceCloud && backed(&r.row, l):
		return !divided(r.sharing) && !divided(r.row.Sharing) && r.unitsBack(l.Vendor)
	default:
		return l.Source != v1.SourceCloud
	}
}

// conclusive reports whether a reading that names fewer products than are known says that the others have gone.
func (r *recollection) conclusive(live []v1.GpuGroup) bool {
	if disputed(&r.row) {
		return false
	}
	counted := len(unitsOf(r.row.Resources, live[0].Vendor)) > 0 && r.unitsBack(live[0].Vendor)
	return !slices.ContainsFunc(live, func(g v1.GpuGroup) bool {
		return g.Count == nil || g.Product == "" || g.Source != v1.SourceSlices && !counted
	})
}

// restore completes a reading that names some of several products.
func (r *recollection) restore(live []v1.GpuGroup, old []fact) []fact {
	now, was := total(live), total(groupsOf(old))
	if len(old) == 1 && now != nil && was != nil && *now >= *was {
		return r.match(live, old)
	}
	out, rest := r.pair(live, old)
	if len(rest) == 0 && len(old) > 1 {
		return out
	}
	if len(old) == 1 || now != nil && was != nil && *now == *was {
		return r.keep(old)
	}
	return append(out, r.keep(rest)...)
}

// match completes each product that is named. Products that are not named any more have been replaced.
func (r *recollection) match(live []v1.GpuGroup, old []fact) []fact {
	out, rest := r.pair(live, old)
	r.replaced = r.replaced || len(rest) > 0
	return out
}

// pair completes the live groups by the facts of the same products, and returns the other facts.
func (r *recollection) pair(live []v1.GpuGroup, old []fact) (out, rest []fact) {
	rest = slices.Clone(old)
	for _, l := range live {
		i := slices.IndexFunc(rest, func(f fact) bool { return sameProduct(f.Product, l.Product) })
		if i < 0 && len(live) == 1 && len(old) == 1 && akin(old[0].Product, l.Product) {
			i = 0
		}
		if i < 0 {
			out = append(out, r.fresh(l))
			continue
		}
		out = append(out, r.fill(l, rest[i]))
		rest = slices.Delete(rest, i, i+1)
	}
	return out, rest
}

// fill adds to a live group what it lacks.
func (r *recollection) fill(l v1.GpuGroup, f fact) fact {
	if r.sharingHidden(l, f) {
		r.shared = true
		f.Product = cmp.Or(l.Product, f.Product)
		return r.lose(f)
	}
	out := f
	out.GpuGroup = l
	same := l.Variant == f.Variant && r.mode == r.row.WorkloadMode
	out.Count = r.fillCount(l, f, same)
	out.MemoryMiB = either(l.MemoryMiB, f.MemoryMiB)
	if same {
		out.MemoryPerUnitMiB = either(l.MemoryPerUnitMiB, f.MemoryPerUnitMiB)
	}
	if out.GpuGroup == l {
		return r.fresh(l)
	}
	out.Source = f.Source
	return r.lose(out)
}

// fillCount is the count of a live group, or the remembered one. same says that GPUs are divided and used as before: where
// they are not, units that were counted as GPUs turn out to be parts of them, so that they were miscounted, not lost.
func (r *recollection) fillCount(l v1.GpuGroup, f fact, same bool) *int32 {
	switch {
	case l.Count == nil && !same && f.Source == v1.SourceResources:
		return nil
	case l.Count == nil || f.Count == nil:
		return either(l.Count, f.Count)
	case *l.Count < *f.Count && l.Source == v1.SourceResources && !r.unitsBack(l.Vendor):
		return f.Count
	default:
		return l.Count
	}
}

// sharingHidden reports whether the units of a group used to be shares of GPUs and now look like GPUs only because what
// tells has gone: the units themselves, or, where no discovery speaks, what else spoke of sharing beside the same units.
func (r *recollection) sharingHidden(l v1.GpuGroup, f fact) bool {
	if !divided(r.sharing) || divided(r.row.Sharing) {
		return false
	}
	was, is := unitsOf(r.units, l.Vendor), unitsOf(r.row.Resources, l.Vendor)
	switch {
	case len(is) == 0:
		return len(was) > 0 || !f.live
	case len(was) == 0:
		return false
	case !r.unitsBack(l.Vendor):
		return true
	default:
		discovered := l.Source != v1.SourceResources && l.Source != v1.SourceCloud
		return sameUnits(was, is) && (!f.live || !discovered)
	}
}

// unitsBack reports whether every resource of a vendor that stood for its GPUs is there, or others have taken their place.
func (r *recollection) unitsBack(vendor v1.Vendor) bool {
	was, is := unitsOf(r.units, vendor), unitsOf(r.row.Resources, vendor)
	return subset(was, is) || !subset(is, was)
}

func (r *recollection) read(live []v1.GpuGroup) []fact {
	out := make([]fact, 0, len(live))
	for _, g := range live {
		out = append(out, r.fresh(g))
	}
	return out
}

func (r *recollection) fresh(g v1.GpuGroup) fact { return fact{GpuGroup: g, live: true, seen: r.now} }

func (r *recollection) keep(old []fact) []fact {
	out := make([]fact, 0, len(old))
	for _, f := range old {
		out = append(out, r.lose(f))
	}
	return out
}

// lose marks a fact as no longer read. The time is that of the loss, and stays.
func (r *recollection) lose(f fact) fact {
	if f.live && !f.seeded {
		f.seen = r.now
	}
	f.live = false
	return f
}

func named(facts []fact) bool {
	return slices.ContainsFunc(facts, func(f fact) bool { return f.Product != "" })
}

func either[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}
