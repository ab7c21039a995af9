package gpu

import (
	"cmp"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Makers without discovery labels that this package knows are read from the resources of their device plugins, from HAMi's
// annotations and from the cloud's labels: a unit of the plain name is a device, a unit of the shared name is a share.

// decideOthers decides about the devices of a maker that only resources, annotations and clouds speak for.
func (r *reader) decideOthers(vendor v1.Vendor) decision {
	c := decision{sharing: v1.SharingNone}
	slots := r.live(vendor, UnitSlot)
	listed := r.hami.others[vendor]
	if len(slots) > 0 || listed > 0 {
		c.sharing = v1.SharingOther
		r.useResources(vendor, fieldSharing, UnitSlot)
	}
	for _, u := range r.live(vendor, UnitWhole) {
		r.use(KindResource, u.name, fieldCount)
		g := v1.GpuGroup{Vendor: vendor, Product: u.Model, Count: count32(u.capacity), Source: v1.SourceResources}
		if listed > 0 {
			g.Count = count32(listed) // under HAMi a unit is a share
		}
		c.groups = addGroup(c.groups, g)
	}
	if len(c.groups) > 0 {
		return c
	}
	g := v1.GpuGroup{Vendor: vendor, Count: count32(listed)}
	if len(slots) == 1 {
		g.Product = slots[0].Model
	}
	if listed > 0 {
		g.Source = v1.SourceAnnotation
	}
	r.askCloud(&g)
	g.Source = cmp.Or(g.Source, r.unitSource(vendor))
	c.groups = []v1.GpuGroup{g}
	return c
}

// askCloud fills what is missing from the machine type's labels.
func (r *reader) askCloud(g *v1.GpuGroup) {
	c := &r.cloud
	if !c.speaksOf(g.Vendor) {
		return
	}
	if g.Product == "" && c.product != "" {
		g.Product = c.product
		r.use(KindLabel, c.productKey, fieldProduct)
		g.Source = cmp.Or(g.Source, v1.SourceCloud)
	}
	if g.Count == nil && c.count != nil {
		g.Count = count32(*c.count)
		r.use(KindLabel, c.countKey, fieldCount)
		g.Source = cmp.Or(g.Source, v1.SourceCloud)
	}
	if g.MemoryMiB == nil && c.memory != nil {
		g.MemoryMiB = c.memory
		r.use(KindLabel, c.memoryKey, fieldMemory)
	}
}
