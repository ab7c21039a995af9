package gpu

import (
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Node feature discovery (NFD) lists PCI devices in labels pci-<fields>.present, with the fields class, vendor, device and
// their subsystem's, of which an installation chooses some: pci-10de, pci-0302_10de, pci-0300_10de_2684.
//
//   - No driver is needed, and NotReady does not remove the labels. They go with NFD's objects.
//   - They prove that hardware is there: no count, no model.
//   - Intel and AMD devices of class 0300 are integrated graphics in most machines, and vendor-only labels of theirs are
//     network cards and bridges, so neither is enough. Vendor-only 10de is what the GPU Operator itself goes by.

const (
	labelPCIPrefix = "feature.node.kubernetes.io/pci-"
	labelTegra     = "feature.node.kubernetes.io/cpu-model.vendor_id"
)

// pciVendors are the makers by PCI vendor ID.
var pciVendors = map[string]v1.Vendor{
	"10de": v1.VendorNVIDIA, "1002": v1.VendorAMD, "8086": v1.VendorIntel,
}

// featureLabels are labels of NFD rules that name a maker's GPUs by their device IDs.
var featureLabels = map[string]v1.Vendor{
	"feature.node.kubernetes.io/amd-gpu":   v1.VendorAMD,
	"feature.node.kubernetes.io/amd-vgpu":  v1.VendorAMD,
	"intel.feature.node.kubernetes.io/gpu": v1.VendorIntel,
}

func (r *reader) collectPCI() {
	for _, key := range r.withPrefix(labelPCIPrefix) {
		fields, ok := strings.CutSuffix(strings.TrimPrefix(key, labelPCIPrefix), ".present")
		if !ok || r.node.Labels[key] != "true" {
			continue
		}
		if vendor, ok := pciGPU(fields); ok {
			r.see(KindLabel, key, "true", "NFD saw a GPU on the bus")
			r.mark(vendor, detected)
		}
	}
	for key, vendor := range featureLabels {
		if r.node.Labels[key] == "true" {
			r.see(KindLabel, key, "true", "an NFD rule recognised a GPU by its device ID")
			r.mark(vendor, registered)
		}
	}
	if r.node.Labels[labelTegra] == "NVIDIA" {
		r.see(KindLabel, labelTegra, "NVIDIA", "the processor is an NVIDIA Tegra, which has a GPU")
		r.mark(v1.VendorNVIDIA, detected)
	}
}

// pciGPU reads the fields of a PCI label, and reports whether they are those of a GPU.
func pciGPU(fields string) (v1.Vendor, bool) {
	parts := strings.Split(fields, "_")
	if vendor, ok := pciVendors[parts[0]]; ok {
		return vendor, vendor == v1.VendorNVIDIA || vendor == v1.VendorHabana
	}
	if len(parts) < 2 {
		return "", false
	}
	vendor, ok := pciVendors[parts[1]]
	return vendor, ok && isGPUClass(parts[0], vendor)
}

// isGPUClass reports whether a PCI class is one of a maker's GPUs: 3D and display controllers, accelerators, and VGA where
// that does not mean integrated graphics.
func isGPUClass(class string, vendor v1.Vendor) bool {
	if class == "0300" || class == "03" {
		return vendor == v1.VendorNVIDIA
	}
	return slices.Contains([]string{"0302", "0380", "0b40"}, class) || strings.HasPrefix(class, "12")
}
