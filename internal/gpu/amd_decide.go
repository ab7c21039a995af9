package gpu

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// decideAMD decides about AMD GPUs from labels and resources together.
func (r *reader) decideAMD() decision {
	a := &r.amd
	variant := r.amdVariant()
	c := decision{sharing: v1.SharingNone}
	if variant != "" {
		c.sharing = v1.SharingPartition
		r.use(KindLabel, labelAMDPartition, fieldSharing)
		r.useResources(v1.VendorAMD, fieldSharing, UnitPartition)
	}
	if groups := r.amdProducts(variant); len(groups) > 1 {
		c.groups = groups
		return c
	}
	g := v1.GpuGroup{Vendor: v1.VendorAMD, Variant: variant}
	var named, numbered v1.Source
	g.Product, named = r.amdProduct()
	g.Count, numbered = r.amdCount(variant)
	g.MemoryMiB, g.MemoryPerUnitMiB = r.amdMemory(variant)
	if named == "" && a.vram != nil {
		named = v1.SourceLabels
	}
	g.Source = cmp.Or(named, numbered, r.unitSource(v1.VendorAMD))
	c.groups = []v1.GpuGroup{g}
	return c
}

// amdVariant is the partition style: that of the resources that are offered, else that of the label. Cards in the style
// spx are whole.
func (r *reader) amdVariant() string {
	offered := r.live(v1.VendorAMD, UnitPartition)
	if len(offered) == 0 {
		return r.amd.partition
	}
	styles := map[string]bool{}
	whole := len(r.live(v1.VendorAMD, UnitWhole)) > 0
	for _, u := range offered {
		if strings.HasPrefix(u.Profile, "spx_") {
			whole = true
		} else {
			styles[u.Profile] = true
		}
	}
	switch {
	case len(styles) == 0:
		return ""
	case len(styles) == 1 && !whole:
		return slices.Sorted(maps.Keys(styles))[0]
	}
	return "mixed-partitions"
}

// amdProducts has a row for each product, when the labeller counts several.
func (r *reader) amdProducts(variant string) []v1.GpuGroup {
	a := &r.amd
	if len(a.products) < 2 {
		return nil
	}
	var sum int64
	for _, n := range a.products {
		sum += n
	}
	if offered := r.capacityOf(v1.VendorAMD, UnitWhole); offered > 0 && offered != sum {
		// Some of the names are left over from other cards, and nothing says which.
		r.warn(v1.WarningCountMismatch)
		r.warn(v1.WarningMixedProducts)
		return nil
	}
	var groups []v1.GpuGroup
	for _, product := range slices.Sorted(maps.Keys(a.products)) {
		g := v1.GpuGroup{Vendor: v1.VendorAMD, Product: product, Variant: variant, Source: v1.SourceLabels}
		if variant == "" {
			g.Count = count32(a.products[product])
		}
		for _, prefix := range amdProductCounters {
			r.use(KindLabel, prefix+product, fieldProduct)
			r.use(KindLabel, prefix+product, fieldCount)
		}
		groups = append(groups, g)
	}
	return groups
}

// amdProduct names the only model: the plain label, the only counting key, or the cloud.
func (r *reader) amdProduct() (string, v1.Source) {
	a := &r.amd
	switch {
	case a.product != "":
		r.use(KindLabel, labelAMDProduct, fieldProduct)
		return a.product, v1.SourceLabels
	case len(a.products) == 1:
		for product := range a.products {
			r.use(KindLabel, labelAMDBeta+"product-name."+product, fieldProduct)
			return product, v1.SourceLabels
		}
	case r.cloud.speaksOf(v1.VendorAMD) && r.cloud.product != "":
		r.use(KindLabel, r.cloud.productKey, fieldProduct)
		return r.cloud.product, v1.SourceCloud
	}
	return "", ""
}

// amdCount finds the number of cards. Partitions and virtual functions are no cards, and nothing says how many cards they
// are on.
func (r *reader) amdCount(variant string) (*int32, v1.Source) {
	a := &r.amd
	if variant != "" || a.mode == "vf-passthrough" {
		return nil, ""
	}
	offered := r.capacityOf(v1.VendorAMD, UnitWhole, UnitPartition)
	counted := a.counted()
	if counted > 0 && offered > 0 && counted != offered {
		r.warn(v1.WarningCountMismatch)
	}
	switch {
	case counted > offered:
		r.useAMDCounters()
		return count32(counted), v1.SourceLabels
	case offered > 0:
		r.useResources(v1.VendorAMD, fieldCount, UnitWhole, UnitPartition)
		return count32(offered), v1.SourceResources
	case r.cloud.speaksOf(v1.VendorAMD) && r.cloud.count != nil:
		r.use(KindLabel, r.cloud.countKey, fieldCount)
		return count32(*r.cloud.count), v1.SourceCloud
	}
	return nil, ""
}

// counted is the number of devices that the labeller counts, 0 when it counts none, or names that contradict each other.
func (a *amdLabels) counted() int64 {
	switch len(a.products) {
	case 0:
		return a.devices
	case 1:
		return slices.Collect(maps.Values(a.products))[0]
	}
	return 0
}

// useAMDCounters marks the keys that count devices as what decided the count.
func (r *reader) useAMDCounters() {
	for _, prefix := range slices.Concat(amdProductCounters, amdDeviceCounters) {
		for key := range r.facts.labels.Prefix(prefix) {
			r.use(KindLabel, key, fieldCount)
		}
	}
}

// amdMemory reads vram as memory of a card or of a partition.
func (r *reader) amdMemory(variant string) (perGPU, perUnit *int64) {
	a := &r.amd
	if a.vram == nil || len(a.products) > 1 || variant == "mixed-partitions" {
		return nil, nil
	}
	r.use(KindLabel, labelAMDVRAM, fieldMemory)
	if variant == "" || a.fullVRAM() == *a.vram {
		return a.vram, nil
	}
	return nil, a.vram
}
