package gpu

import "testing"

func TestTwoVendorsCannotHaveTheSameKey(t *testing.T) {
	for name, v := range map[string]vendor{
		"resource": {resources: map[string]ResourceClass{"habana.ai/gaudi": {}}},
		"driver":   {drivers: map[string]draDriver{"gaudi.intel.com": {}}},
		"PCI ID":   {pci: pciVendors},
		"label":    {labels: featureLabels},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("a key of another vendor was taken over")
				}
			}()
			addVendor(v)
		})
	}
}
