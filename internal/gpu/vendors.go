package gpu

import (
	"fmt"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// vendor is how one vendor's GPUs are identified. It is enough for a vendor whose device plugin or DRA driver says all that
// there is to know; others.go then decides about its GPUs. See CONTRIBUTING.md for an example.
type vendor struct {
	// resources are the extended resource names that its device plugin offers.
	resources map[string]ResourceClass
	// drivers are its DRA drivers.
	drivers map[string]draDriver
	// pci are its PCI vendor IDs.
	pci map[string]v1.Vendor
	// labels have the value "true" on nodes on which node feature discovery knows one of its GPUs by the device ID.
	labels map[string]v1.Vendor
}

// addVendor adds a vendor to the tables. Only init functions call it. In which order they run does not matter, because no key
// may be added twice.
func addVendor(v vendor) {
	add(resourceNames, v.resources)
	add(draDrivers, v.drivers)
	add(pciVendors, v.pci)
	add(featureLabels, v.labels)
}

func add[V any](table, entries map[string]V) {
	for key, value := range entries {
		if _, taken := table[key]; taken {
			panic(fmt.Sprintf("%s belongs to another vendor already", key))
		}
		table[key] = value
	}
}
