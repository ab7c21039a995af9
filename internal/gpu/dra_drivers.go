package gpu

import (
	"cmp"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// deviceKind is what a device is, whatever its driver calls it.
type deviceKind int

const (
	deviceOther deviceKind = iota // no GPU
	deviceGPU                     // a GPU
	devicePart                    // a MIG instance or a partition of a GPU
	deviceVF                      // a virtual function, of a GPU that nothing names
	deviceVFIO                    // a GPU as virtual machines get it; the same card may be published as a GPU too
)

// draDriver is a driver of GPUs, with its words for kinds of devices. A driver without words publishes GPUs only.
type draDriver struct {
	vendor v1.Vendor
	kinds  map[string]deviceKind
}

// draDrivers are the known drivers of GPUs, by name.
var draDrivers = map[string]draDriver{
	"gpu.nvidia.com": {v1.VendorNVIDIA, map[string]deviceKind{"": deviceGPU, "gpu": deviceGPU, "mig": devicePart, "vfio": deviceVFIO}},
	"gpu.amd.com":    {v1.VendorAMD, map[string]deviceKind{"": deviceGPU, "amdgpu": deviceGPU, "gpu": deviceGPU, "amdgpu-partition": devicePart}},
	"gpu.intel.com":  {v1.VendorIntel, map[string]deviceKind{"": deviceGPU, "gpu": deviceGPU, "vf": deviceVF}},
}

// DriverVendor says whose GPUs a DRA driver publishes. It returns false for a driver that publishes none. Besides the known
// drivers, one that names itself gpu.<domain> is taken at its word, and so is dra:<driver> in Options.ExtraResources.
func DriverVendor(driver string, opts Options) (v1.Vendor, bool) {
	if wanted, known := opts.extra("dra:" + driver); known {
		return cmp.Or(draDrivers[driver].vendor, v1.VendorUnknown), wanted
	}
	if d, ok := draDrivers[driver]; ok {
		return d.vendor, true
	}
	return v1.VendorUnknown, strings.HasPrefix(driver, "gpu.")
}
