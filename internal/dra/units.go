package dra

import "slices"

// Units returns which units a claim on a device takes, for every device of one driver's pools. A unit is named by the device
// that it is counted as. Devices of one card take the same unit: if a card is published whole, then its form for virtual
// machines and its parts cannot be had besides it. A device that is no GPU takes none. Devices of an invalid pool are left out.
func Units(pools []Pool, types Types) map[DeviceID][]DeviceID {
	out := map[DeviceID][]DeviceID{}
	pools = slices.DeleteFunc(slices.Clone(pools), func(p Pool) bool { return p.Duplicate != "" })
	ids := map[*Device]DeviceID{}
	for _, p := range pools {
		for i := range p.Devices {
			d := &p.Devices[i]
			ids[d] = DeviceID{Driver: p.Driver, Pool: p.Name, Device: d.Name}
			out[ids[d]] = nil
			if types.Of(d) != NoGPU {
				out[ids[d]] = []DeviceID{ids[d]} // unless its card says more
			}
		}
	}
	for _, c := range Cards(pools, types) {
		var units []DeviceID
		for _, d := range c.Units() {
			units = append(units, ids[d])
		}
		if c.GPU != nil {
			for _, part := range c.Parts {
				out[ids[part]] = units
			}
		}
		if c.VFIO != nil {
			out[ids[c.VFIO]] = units
		}
	}
	return out
}
