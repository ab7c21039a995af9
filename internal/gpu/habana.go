package gpu

import v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"

// Habana's Gaudi accelerators are offered as habana.ai/gaudi by their device plugin and as devices of gaudi.intel.com by
// their DRA driver. Nothing names the model.
func init() {
	addVendor(vendor{
		resources: map[string]ResourceClass{"habana.ai/gaudi": {Vendor: v1.VendorHabana, Kind: UnitWhole}},
		drivers:   map[string]draDriver{"gaudi.intel.com": {vendor: v1.VendorHabana}},
		pci:       map[string]v1.Vendor{"1da3": v1.VendorHabana},
	})
}
