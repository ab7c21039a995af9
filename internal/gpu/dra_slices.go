package gpu

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// Devices of ResourceSlices are the best evidence: drivers list every one of them. Package dra reads the slices.

// gpuDriver is what one DRA driver publishes for the node.
type gpuDriver struct {
	name                  string
	vendor                v1.Vendor
	pools                 []dra.Pool
	cards                 []*dra.Card
	capacity, allocatable int64
}

func (d *gpuDriver) complete() bool {
	return !slices.ContainsFunc(d.pools, func(p dra.Pool) bool { return !p.Complete() })
}

// collectSlices reads the devices that DRA drivers publish for the node.
func (r *reader) collectSlices() {
	for name, pools := range r.devices.ByDriver() {
		vendor, ok := DriverVendor(name, r.opts)
		if !ok {
			continue
		}
		types := draDrivers[name].types
		pools = slices.DeleteFunc(slices.Clone(pools), func(p dra.Pool) bool { return p.Complete() && !hasGPU(p, types) })
		if len(pools) == 0 {
			continue
		}
		r.mark(vendor, counted)
		for _, p := range pools {
			r.seePool(p)
		}
		d := gpuDriver{name: name, vendor: vendor, pools: pools, cards: dra.Cards(pools, types)}
		d.count()
		r.drivers = append(r.drivers, d)
	}
}

func hasGPU(p dra.Pool, types dra.Types) bool {
	return slices.ContainsFunc(p.Devices, func(d dra.Device) bool { return types.Of(&d) != dra.NoGPU })
}

// count counts what can be allocated: a card once, and its parts only where the card itself is not published.
func (d *gpuDriver) count() {
	for _, c := range d.cards {
		for _, dev := range c.Units() {
			d.capacity++
			if !dev.Blocked() {
				d.allocatable++
			}
		}
	}
}

func poolEvidence(p dra.Pool) string { return "dra:" + p.Driver + "/" + p.Name }

func (r *reader) seePool(p dra.Pool) {
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
		if d.Blocked() {
			r.see(KindSlice, poolEvidence(p)+"/"+d.Name, taintText(d), "no new claim can get this device")
			r.use(KindSlice, poolEvidence(p)+"/"+d.Name, fieldResources)
		}
	}
}

func taintText(d dra.Device) string {
	var out []string
	for _, t := range d.Taints {
		out = append(out, t.Key+"="+t.Value+":"+t.Effect)
	}
	if d.Healthy != nil && !*d.Healthy {
		out = append(out, "unhealthy")
	}
	return strings.Join(out, ", ")
}

// blockedDevices returns the names of the first devices that no new claim can get, with the reason.
func (r *reader) blockedDevices() []string {
	const shown = 4
	var out []string
	for _, d := range r.drivers {
		for _, c := range d.cards {
			for _, dev := range c.Units() {
				if dev.Blocked() {
					out = append(out, clip(dev.Name, maxName)+": "+clip(taintText(*dev), maxName))
				}
			}
		}
	}
	slices.Sort(out)
	return out[:min(len(out), shown)]
}

func (r *reader) useDriver(d gpuDriver, field string) {
	for _, p := range d.pools {
		r.use(KindSlice, poolEvidence(p), field)
	}
}
