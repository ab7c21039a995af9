package gpu

import (
	"cmp"
	"slices"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

const (
	maxGroups    = v1.MaxGroups
	maxResources = v1.MaxResources
)

// decide turns the evidence into the node's row.
func (r *reader) decide() v1.GpuNode {
	r.dropWeakVendors()
	r.mode = r.decideMode()
	row := v1.GpuNode{
		Name:          r.facts.name,
		Unschedulable: r.facts.unschedulable(),
		WorkloadMode:  r.mode,
	}
	for i, vendor := range r.vendors() {
		c := r.decideVendor(vendor)
		row.Gpus = append(row.Gpus, c.groups...)
		if i == 0 {
			row.Sharing = c.sharing
		} else {
			row.Sharing = strongest(row.Sharing, c.sharing)
		}
	}
	row.Resources = r.rows()
	row.GpuCount = totalCount(row.Gpus)
	r.decideWarnings(&row)
	r.judge(&row)
	row.Warnings = r.sortedWarnings()
	bound(&row)
	return row
}

func (r *reader) decideVendor(vendor v1.Vendor) decision {
	switch vendor {
	case v1.VendorNVIDIA:
		return r.decideNVIDIA()
	case v1.VendorAMD:
		return r.preferDevices(vendor, r.decideAMD)
	case v1.VendorIntel:
		return r.preferDevices(vendor, r.decideIntel)
	}
	return r.preferDevices(vendor, func() decision { return r.decideOthers(vendor) })
}

// dropWeakVendors drops vendors that are no news beside stronger evidence: a machine type whose maker is not named speaks of
// the GPUs that were found, and AMD or Intel hardware on the bus alone is in most cases the processor's own graphics.
func (r *reader) dropWeakVendors() {
	if len(r.strength) < 2 {
		return
	}
	if r.strength[v1.VendorUnknown] == intended {
		delete(r.strength, v1.VendorUnknown)
		if found := r.vendors(); r.cloud.vendor == v1.VendorUnknown && len(found) == 1 {
			r.cloud.vendor = found[0]
		}
	}
	for _, vendor := range []v1.Vendor{v1.VendorAMD, v1.VendorIntel} {
		if r.strength[vendor] == detected && len(r.strength) > 1 {
			delete(r.strength, vendor)
		}
	}
}

// totalCount adds up the rows. One unknown count makes the sum unknown.
func totalCount(groups []v1.GpuGroup) *int32 {
	var sum int64
	for _, g := range groups {
		if g.Count == nil {
			return nil
		}
		sum += int64(*g.Count)
	}
	return count32(sum)
}

// bound sorts the row's lists and cuts texts and lists to what the API accepts. Totals were taken before.
func bound(row *v1.GpuNode) {
	for i := range row.Gpus {
		g := &row.Gpus[i]
		g.Product, g.Variant = clip(g.Product, maxName), clip(g.Variant, maxName)
	}
	slices.SortStableFunc(row.Gpus, func(a, b v1.GpuGroup) int {
		return cmp.Or(cmp.Compare(a.Vendor, b.Vendor), cmp.Compare(a.Product, b.Product), cmp.Compare(a.Variant, b.Variant))
	})
	row.Gpus = row.Gpus[:min(len(row.Gpus), maxGroups)]
	row.Resources = row.Resources[:min(len(row.Resources), maxResources)]
	row.Message = clip(row.Message, maxText)
}
