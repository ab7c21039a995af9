package gpu

import (
	"cmp"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// draDriver is a driver of GPUs.
type draDriver struct {
	vendor v1.Vendor
	types  dra.Types // nil: it publishes only GPUs
}

// draDrivers are the known drivers of GPUs, by name.
var draDrivers = map[string]draDriver{
	"gpu.nvidia.com": {v1.VendorNVIDIA, dra.Types{"": dra.GPU, "gpu": dra.GPU, "mig": dra.Part, "vfio": dra.VFIO}},
	"gpu.amd.com":    {v1.VendorAMD, dra.Types{"": dra.GPU, "amdgpu": dra.GPU, "gpu": dra.GPU, "amdgpu-partition": dra.Part}},
	"gpu.intel.com":  {v1.VendorIntel, dra.Types{"": dra.GPU, "gpu": dra.GPU, "vf": dra.VF}},
}

// DriverVendor returns whose GPUs a DRA driver publishes, and false for a driver that publishes none. Besides the known
// drivers, one with a name gpu.<domain> publishes GPUs, and so does one that Options.ExtraResources names as dra:<driver>.
func DriverVendor(driver string, opts Options) (v1.Vendor, bool) {
	if wanted, known := opts.extra("dra:" + driver); known {
		return cmp.Or(draDrivers[driver].vendor, v1.VendorUnknown), wanted
	}
	if d, ok := draDrivers[driver]; ok {
		return d.vendor, true
	}
	return v1.VendorUnknown, strings.HasPrefix(driver, "gpu.")
}
