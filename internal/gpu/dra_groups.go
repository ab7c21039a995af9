package gpu

import (
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// decideDevices decides about a vendor's GPUs from ResourceSlices. It returns false when no driver publishes any. While a
// pool is not complete the product and memory of what is there are told, and the count is unknown.
func (r *reader) decideDevices(vendor v1.Vendor) (decision, bool) {
	c := decision{sharing: v1.SharingNone}
	var found bool
	for _, d := range r.drivers {
		if d.vendor != vendor {
			continue
		}
		found = true
		for _, g := range d.groups() {
			c.groups = addGroup(c.groups, g)
		}
		c.sharing = strongest(c.sharing, d.sharing())
		for _, field := range []string{fieldProduct, fieldCount, fieldMemory} {
			r.useDriver(d, field)
		}
	}
	if found && len(c.groups) == 0 {
		c.groups = []v1.GpuGroup{{Vendor: vendor, Source: v1.SourceSlices}}
	}
	return c, found
}

// complete reports whether every pool of a vendor's drivers is complete.
func (r *reader) complete(vendor v1.Vendor) bool {
	return !slices.ContainsFunc(r.drivers, func(d gpuDriver) bool { return d.vendor == vendor && !d.complete() })
}

// preferDevices takes ResourceSlices where they are complete, and otherwise whatever else names or counts the GPUs.
func (r *reader) preferDevices(vendor v1.Vendor, otherwise func() decision) decision {
	devices, published := r.decideDevices(vendor)
	if published && r.complete(vendor) {
		return devices
	}
	c := otherwise()
	if published && !slices.ContainsFunc(c.groups, func(g v1.GpuGroup) bool { return g.Product != "" || g.Count != nil }) {
		return devices
	}
	return c
}

// groups has a row for each product that the driver publishes.
func (d *gpuDriver) groups() []v1.GpuGroup {
	byProduct := map[string][]*dra.Card{}
	var order []string
	for _, c := range d.cards {
		product := modelOf(c).Product
		if byProduct[product] == nil {
			order = append(order, product)
		}
		byProduct[product] = append(byProduct[product], c)
	}
	slices.Sort(order)
	groups := make([]v1.GpuGroup, 0, len(order))
	for _, product := range order {
		cards := byProduct[product]
		g := v1.GpuGroup{Vendor: d.vendor, Product: product, Variant: d.variant(cards), Source: v1.SourceSlices}
		if d.complete() && !slices.ContainsFunc(cards, func(c *dra.Card) bool { return c.Uncounted }) {
			g.Count = count32(int64(len(cards)))
		}
		g.MemoryMiB, g.MemoryPerUnitMiB = cardMemory(cards)
		groups = append(groups, g)
	}
	return groups
}

// modelOf returns a device that has the card's model.
func modelOf(c *dra.Card) *dra.Device { return c.Units()[0] }

// cardMemory is the memory of one card where that is published and the same for all, else that of one part.
func cardMemory(cards []*dra.Card) (perGPU, perUnit *int64) {
	var whole, parts []*dra.Device
	for _, c := range cards {
		if c.GPU != nil || len(c.Parts) == 0 {
			whole = append(whole, modelOf(c))
		} else {
			parts = append(parts, c.Parts...)
		}
	}
	if len(whole) > 0 {
		return sameMemory(whole), nil
	}
	return nil, sameMemory(parts)
}

func sameMemory(devices []*dra.Device) *int64 {
	m := devices[0].MemoryMiB
	for _, d := range devices {
		if m == nil || d.MemoryMiB == nil || *d.MemoryMiB != *m {
			return nil
		}
	}
	return m
}

// variant names the layout of cards that are offered in parts. Cards that are offered whole have none, also where possible
// parts are published beside them.
func (d *gpuDriver) variant(cards []*dra.Card) string {
	profiles, whole := layout(cards)
	mixed, prefix := "mixed-partitions", ""
	if d.vendor == v1.VendorNVIDIA {
		mixed, prefix = "MIG-mixed", "MIG-"
	}
	switch {
	case len(profiles) == 0, len(profiles) == 1 && profiles[0] == "":
		return ""
	case len(profiles) > 1 || whole:
		return mixed
	}
	return prefix + strings.ReplaceAll(profiles[0], "+", ".")
}

// layout lists the profiles of the parts that are offered, and whether any card is offered whole.
func layout(cards []*dra.Card) (profiles []string, whole bool) {
	for _, c := range cards {
		if c.GPU != nil || len(c.Parts) == 0 {
			whole = true
			continue
		}
		for _, p := range c.Parts {
			if !slices.Contains(profiles, p.Profile) {
				profiles = append(profiles, p.Profile)
			}
		}
	}
	return profiles, whole
}

// sharing says how the driver divides its cards.
func (d *gpuDriver) sharing() v1.Sharing {
	for _, c := range d.cards {
		switch {
		case len(c.Parts) == 0:
		case d.vendor == v1.VendorNVIDIA:
			return v1.SharingMIG
		case d.vendor == v1.VendorIntel:
			return v1.SharingVGPU
		default:
			return v1.SharingPartition
		}
	}
	for _, c := range d.cards {
		if modelOf(c).Shared {
			return v1.SharingOther
		}
	}
	return v1.SharingNone
}

// mergeDevices adds to the devices what only the labels and the device plugin know: how GPUs are shared through the plugin,
// memory that the driver does not publish, and the spelling of the product that other nodes have.
func (r *reader) mergeDevices(c decision, how nvidiaSharing) decision {
	c.sharing = strongest(c.sharing, how.sharing())
	if len(c.groups) != 1 {
		return c
	}
	g := &c.groups[0]
	if g.Product == "" || sameProduct(g.Product, r.gfd.product.base) {
		if product, _, source := r.nvidiaProduct(""); source == v1.SourceLabels {
			g.Product = product
		}
	}
	if g.Variant == "" && c.sharing == how.sharing() {
		g.Variant = how.variant()
	}
	if g.MemoryMiB == nil && g.MemoryPerUnitMiB == nil {
		g.MemoryMiB, g.MemoryPerUnitMiB = r.nvidiaMemory(how)
	}
	r.crossCheck(g, how)
	return c
}

// crossCheck compares published devices with what labels and the device plugin count. While a pool is incomplete the
// labels' word is the best there is.
func (r *reader) crossCheck(g *v1.GpuGroup, how nvidiaSharing) {
	offered := r.capacityOf(v1.VendorNVIDIA, UnitWhole)
	switch {
	case !r.complete(v1.VendorNVIDIA):
		if n, source, mixed := r.nvidiaCount(how); n != nil && !mixed {
			g.Count, g.Source = count32(*n), source
		}
	case g.Count != nil && how.whole() && offered > 0 && offered != int64(*g.Count):
		r.warn(v1.WarningCountMismatch)
		r.useResources(v1.VendorNVIDIA, fieldWarnings, UnitWhole)
	case g.Count != nil && r.gfd.count != nil && !r.gfd.describesSlices() && *r.gfd.count != int64(*g.Count):
		r.warn(v1.WarningCountMismatch)
		r.use(KindLabel, labelCount, fieldWarnings)
	}
}

// sameProduct compares a driver's spelling of a model with GFD's, which has dashes for blanks.
func sameProduct(published, labelled string) bool {
	return strings.EqualFold(strings.ReplaceAll(published, " ", "-"), labelled)
}
