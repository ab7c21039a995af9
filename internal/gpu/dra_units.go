package gpu

import (
	"maps"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// DRAResource returns the name under which the devices of a DRA driver are counted beside extended resources.
func DRAResource(driver string) string { return draPrefix + driver }

const draPrefix = "dra:"

// DeviceUnits returns which units of the resource dra:<driver> a claim on a device takes, for every device of a Node that a
// GPU driver publishes, as dra.Units does. The map is nil when devices is.
func DeviceUnits(devices *dra.Devices, opts Options) map[dra.DeviceID][]dra.DeviceID {
	if devices == nil {
		return nil
	}
	out := map[dra.DeviceID][]dra.DeviceID{}
	for driver, pools := range devices.ByDriver() {
		if _, ok := DriverVendor(driver, opts); ok {
			maps.Copy(out, dra.Units(pools, draDrivers[driver].types))
		}
	}
	return out
}
