package gpu

import "slices"

// DeviceID identifies a DRA device in a cluster.
type DeviceID struct{ Driver, Pool, Device string }

// DRAResource is the name under which the devices of a DRA driver are counted beside extended resources.
func DRAResource(driver string) string { return draPrefix + driver }

const draPrefix = "dra:"

// Units says which units of the resource dra:<driver> a claim on a device takes, for every device of the Node that a GPU
// driver publishes. A unit is named by the device that it is counted as. Devices of one card take the same unit: a card as
// virtual machines get it, or a part of it that is published beside it, cannot be had besides the whole card. A device that
// is no GPU takes none. Devices of an invalid pool are left out. The map is nil when d is.
func (d *Devices) Units(opts Options) map[DeviceID][]DeviceID {
	if d == nil {
		return nil
	}
	out := map[DeviceID][]DeviceID{}
	for rest := d.Pools; len(rest) > 0; {
		driver := rest[0].Driver
		n := slices.IndexFunc(rest, func(p Pool) bool { return p.Driver != driver })
		if n < 0 {
			n = len(rest)
		}
		if _, ok := DriverVendor(driver, opts); ok {
			valid := slices.DeleteFunc(slices.Clone(rest[:n]), func(p Pool) bool { return p.Duplicate != "" })
			addUnits(out, driverFacts{name: driver, pools: valid})
		}
		rest = rest[n:]
	}
	return out
}

// addUnits adds the devices of one driver.
func addUnits(out map[DeviceID][]DeviceID, d driverFacts) {
	d.group()
	ids := map[*Device]DeviceID{}
	for _, p := range d.pools {
		for i := range p.Devices {
			dev := &p.Devices[i]
			ids[dev] = DeviceID{Driver: d.name, Pool: p.Name, Device: dev.Name}
			out[ids[dev]] = nil
			if kindOf(d.name, *dev) != deviceOther {
				out[ids[dev]] = []DeviceID{ids[dev]} // unless its card says more
			}
		}
	}
	for _, c := range d.cards {
		var units []DeviceID
		for _, dev := range c.units() {
			units = append(units, ids[dev])
		}
		if c.gpu != nil {
			for _, part := range c.parts {
				out[ids[part]] = units
			}
		}
		if c.vfio != nil {
			out[ids[c.vfio]] = units
		}
	}
}
