package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// driverFacts is what one driver publishes for the node.
type driverFacts struct {
	name                  string
	vendor                v1.Vendor
	pools                 []Pool
	cards                 []*card // physical GPUs, in a stable order
	capacity, allocatable int64
}

// card is one physical GPU with what is published of it.
type card struct {
	gpu     *Device   // nil: only parts, or only its vfio form, are published
	vfio    *Device   // nil: not published for virtual machines
	parts   []*Device // sorted by name
	unknown bool      // the parts are of an unknown number of cards
}

func (d *driverFacts) complete() bool {
	return !slices.ContainsFunc(d.pools, func(p Pool) bool { return !p.Complete() })
}

// collectSlices reads the devices that DRA drivers publish for the node.
func (r *reader) collectSlices() {
	if r.devices == nil {
		return
	}
	for _, p := range r.devices.Pools {
		vendor, ok := DriverVendor(p.Driver, r.opts)
		if !ok || p.Complete() && !hasGPU(p) {
			continue
		}
		r.mark(vendor, counted)
		i := slices.IndexFunc(r.drivers, func(d driverFacts) bool { return d.name == p.Driver })
		if i < 0 {
			r.drivers = append(r.drivers, driverFacts{name: p.Driver, vendor: vendor})
			i = len(r.drivers) - 1
		}
		r.drivers[i].pools = append(r.drivers[i].pools, p)
		r.seePool(p)
	}
	for i := range r.drivers {
		r.drivers[i].group()
	}
}

func hasGPU(p Pool) bool {
	return slices.ContainsFunc(p.Devices, func(d Device) bool { return kindOf(p.Driver, d) != deviceOther })
}

func kindOf(driver string, d Device) deviceKind {
	kinds := draDrivers[driver].kinds
	if kinds == nil {
		return deviceGPU
	}
	return kinds[d.Type]
}

func poolEvidence(p Pool) string { return "dra:" + p.Driver + "/" + p.Name }

func (r *reader) seePool(p Pool) {
	value := fmt.Sprintf("generation %d, %d of %d slices, %s", p.Generation, p.Slices, p.WantSlices, plural(int64(len(p.Devices)), "device"))
	says := "the driver publishes these devices"
	switch {
	case p.Duplicate != "":
		says = "invalid: the device " + clip(p.Duplicate, maxName) + " is published twice"
	case !p.Complete():
		says = "incomplete: the devices seen are only a part"
	}
	r.see(KindSlice, poolEvidence(p), value, says)
	for _, d := range p.Devices {
		if d.blocked() {
			r.see(KindSlice, poolEvidence(p)+"/"+d.Name, taintText(d), "no new claim can get this device")
			r.use(KindSlice, poolEvidence(p)+"/"+d.Name, fieldResources)
		}
	}
}

func taintText(d Device) string {
	var out []string
	for _, t := range d.Taints {
		out = append(out, t.Key+"="+t.Value+":"+t.Effect)
	}
	if d.Healthy != nil && !*d.Healthy {
		out = append(out, "unhealthy")
	}
	return strings.Join(out, ", ")
}

// blockedDevices names the first devices that no new claim can get, and why.
func (r *reader) blockedDevices() []string {
	const shown = 4
	var out []string
	for _, d := range r.drivers {
		for _, c := range d.cards {
			for _, dev := range c.units() {
				if dev.blocked() {
					out = append(out, clip(dev.Name, maxName)+": "+clip(taintText(*dev), maxName))
				}
			}
		}
	}
	slices.Sort(out)
	return out[:min(len(out), shown)]
}

func (r *reader) useDriver(d driverFacts, field string) {
	for _, p := range d.pools {
		r.use(KindSlice, poolEvidence(p), field)
	}
}

// group puts devices that are the same card together, and counts what can be allocated: a card once, and its parts only
// where the card itself is not published.
func (d *driverFacts) group() {
	ids := map[string]string{} // UUID of a GPU -> its identity
	byID := map[string]*card{}
	for _, p := range d.pools {
		for i := range p.Devices {
			dev := &p.Devices[i]
			if kindOf(d.name, *dev) == deviceGPU && dev.UUID != "" && dev.PCIBusID != "" {
				ids[dev.UUID] = dev.PCIBusID
			}
		}
	}
	for _, p := range d.pools {
		for i := range p.Devices {
			d.place(&p.Devices[i], p, ids, byID)
		}
	}
	if slices.ContainsFunc(d.cards, func(c *card) bool { return c.gpu != nil }) {
		// Virtual functions are published beside the GPUs that they belong to.
		d.cards = slices.DeleteFunc(d.cards, func(c *card) bool { return c.unknown })
	}
	for _, c := range d.cards {
		for _, dev := range c.units() {
			d.capacity++
			if !dev.blocked() {
				d.allocatable++
			}
		}
	}
}

// place adds a device to its card.
func (d *driverFacts) place(dev *Device, p Pool, ids map[string]string, byID map[string]*card) {
	kind := kindOf(d.name, *dev)
	if kind == deviceOther {
		return
	}
	id := cardID(kind, dev, ids)
	unknown := id == ""
	if unknown {
		id = poolEvidence(p)
		if kind == deviceGPU || kind == deviceVFIO {
			id, unknown = id+"/"+dev.Name, false
		}
	}
	c := byID[id]
	if c == nil {
		c = &card{unknown: unknown}
		byID[id] = c
		d.cards = append(d.cards, c)
	}
	switch kind {
	case deviceGPU:
		c.gpu = dev
	case deviceVFIO:
		c.vfio = dev
	default:
		c.parts = append(c.parts, dev)
	}
}

// cardID identifies the card of a device: by its PCI address where that is known, else by UUID. Empty: nothing says which.
// The UUID of a vfio device is its own and not that of the GPU, so its PCI address is asked first.
func cardID(kind deviceKind, dev *Device, ids map[string]string) string {
	switch kind {
	case deviceVF:
		return ""
	case devicePart:
		return cmp.Or(ids[dev.ParentUUID], dev.ParentPCI, dev.PCIBusID, dev.ParentUUID)
	}
	return cmp.Or(dev.PCIBusID, ids[dev.UUID], dev.UUID)
}

// units are the devices of a card that can be allocated side by side.
func (c *card) units() []*Device {
	switch {
	case c.gpu != nil:
		return []*Device{c.gpu}
	case len(c.parts) > 0:
		return c.parts
	}
	return []*Device{c.vfio}
}
