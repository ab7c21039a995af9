package gpu

import (
	"cmp"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Intel GPUs are labelled by NFD rules that not every installation has, and offered as gpu.intel.com/i915 and gpu.intel.com/xe,
// one for each kernel driver. Integrated graphics count too. With -shared-dev-num a unit is a share of a GPU, under the
// same name. gpu.intel.com/monitoring is access to all GPUs and no GPU; millicores, memory.max and tiles are quantities.

const (
	labelIntelProduct = "gpu.intel.com/product"
	labelIntelCount   = "gpu.intel.com/device.count"
	labelIntelCards   = "gpu.intel.com/cards"
	labelIntelDevice  = "gpu.intel.com/device-id."
)

// intelLabels is what NFD rules say.
type intelLabels struct {
	product  string
	count    *int64
	countKey string
}

func (r *reader) collectIntel() {
	i := &r.intel
	if i.product = r.label(labelIntelProduct, "an NFD rule names the product"); i.product != "" {
		r.mark(v1.VendorIntel, discovered)
	}
	if r.label("gpu.intel.com/family", "an NFD rule names the family") != "" {
		r.mark(v1.VendorIntel, discovered)
	}
	i.count, i.countKey = r.number(labelIntelCount, 1, maxGPUs, "an NFD rule counts the GPUs"), labelIntelCount
	if i.count == nil {
		i.count, i.countKey = r.intelByDevice()
	}
	if cards := r.label(labelIntelCards, "older labels list the cards"); cards != "" && i.count == nil {
		i.count, i.countKey = new(int64(strings.Count(cards, ".")+1)), labelIntelCards
	}
	if i.count != nil {
		r.mark(v1.VendorIntel, discovered)
	}
}

// intelByDevice adds up the counts that have PCI class and device ID in their key.
func (r *reader) intelByDevice() (*int64, string) {
	var sum int64
	var last string
	for key, value := range r.facts.labels.Prefix(labelIntelDevice) {
		switch {
		case strings.HasSuffix(key, ".present") && value == "true":
			r.see(KindLabel, key, "true", "an NFD rule saw a GPU with this device ID")
			r.mark(v1.VendorIntel, discovered)
		case strings.HasSuffix(key, ".count"):
			if n := r.number(key, 1, maxGPUs, "an NFD rule counts the GPUs with this device ID"); n != nil {
				sum, last = sum+*n, key
			}
		}
	}
	if sum == 0 {
		return nil, ""
	}
	return &sum, last
}

// decideIntel decides about Intel GPUs from labels and resources together.
func (r *reader) decideIntel() decision {
	i := &r.intel
	c := decision{sharing: v1.SharingNone}
	g := v1.GpuGroup{Vendor: v1.VendorIntel, Product: i.product}
	var source v1.Source
	offered := r.capacityOf(v1.VendorIntel, UnitWhole)
	switch {
	case i.count != nil && offered > *i.count && offered%*i.count == 0:
		c.sharing = v1.SharingOther
		r.use(KindLabel, i.countKey, fieldSharing)
		r.useResources(v1.VendorIntel, fieldSharing, UnitWhole)
		fallthrough
	case i.count != nil && (offered == 0 || offered >= *i.count):
		g.Count, source = count32(*i.count), v1.SourceLabels
	case i.count != nil:
		r.warn(v1.WarningCountMismatch)
		g.Count, source = count32(*i.count), v1.SourceLabels
	case offered > 0:
		g.Count, source = count32(offered), v1.SourceResources
		r.useResources(v1.VendorIntel, fieldCount, UnitWhole)
	}
	if i.count != nil {
		r.use(KindLabel, i.countKey, fieldCount)
	}
	if i.product != "" {
		r.use(KindLabel, labelIntelProduct, fieldProduct)
		source = v1.SourceLabels
	}
	g.Source = cmp.Or(source, r.unitSource(v1.VendorIntel))
	c.groups = []v1.GpuGroup{g}
	return c
}
