package inventory

import (
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// VendorOf returns the vendor whose GPUs a resource on a row stands for. recognized is false when that is a guess.
func VendorOf(resource string) (vendor v1.Vendor, recognized bool) {
	if driver, ok := strings.CutPrefix(resource, gpu.DRAResource("")); ok {
		return gpu.DriverVendor(driver, gpu.Options{})
	}
	class, recognized := classOf(resource)
	return class.Vendor, recognized
}

// classOf returns the class of a resource on a row. A name that the engine does not recognize is on the row because an option
// made it count.
func classOf(resource string) (class gpu.ResourceClass, recognized bool) {
	class, recognized = gpu.Classify(resource, gpu.Options{})
	if !recognized {
		class, _ = gpu.Classify(resource, gpu.Options{ExtraResources: []string{resource}})
	}
	return class, recognized
}

// isDRA reports whether a resource stands for the devices of a DRA driver.
func isDRA(resource string) bool { return strings.HasPrefix(resource, gpu.DRAResource("")) }
