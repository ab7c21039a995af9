package dra

import (
	"cmp"
	"slices"
)

// Kind is what a device is, whatever its driver calls it.
type Kind int

// Kinds of devices.
const (
	NoGPU Kind = iota
	GPU
	// Part is a MIG instance or a partition of a GPU.
	Part
	// VF is a virtual function of a GPU. Nothing says which GPU.
	VF
	// VFIO is a GPU in the form that virtual machines get. The same card may be published as a GPU too.
	VFIO
)

// Types are the kinds of a driver's devices, by the type that the driver publishes. Nil: every device is a GPU.
type Types map[string]Kind

// Of returns the kind of a device.
func (t Types) Of(d *Device) Kind {
	if t == nil {
		return GPU
	}
	return t[d.Type]
}

// Card is one physical GPU, with all the devices that are published of it.
type Card struct {
	// GPU is the whole card. Nil: only parts, or only the form for virtual machines, are published.
	GPU *Device
	// VFIO is the card in the form for virtual machines. Nil: not published.
	VFIO *Device
	// Parts are parts of the card, sorted by name.
	Parts []*Device
	// Uncounted means that the parts belong to an unknown number of cards.
	Uncounted bool
}

// Units returns the devices of a card that can be allocated side by side: the card itself if it is published whole, otherwise
// its parts.
func (c *Card) Units() []*Device {
	switch {
	case c.GPU != nil:
		return []*Device{c.GPU}
	case len(c.Parts) > 0:
		return c.Parts
	}
	return []*Device{c.VFIO}
}

// Cards returns the cards behind the devices of one driver's pools, in a stable order. Devices that are no GPUs are left out.
func Cards(pools []Pool, types Types) []*Card {
	g := grouping{types: types, addresses: map[string]string{}, byID: map[string]*Card{}}
	for _, p := range pools {
		for i := range p.Devices {
			if d := &p.Devices[i]; types.Of(d) == GPU && d.UUID != "" && d.PCIBusID != "" {
				g.addresses[d.UUID] = d.PCIBusID
			}
		}
	}
	for _, p := range pools {
		for i := range p.Devices {
			g.add(&p.Devices[i], p.Name)
		}
	}
	if slices.ContainsFunc(g.cards, func(c *Card) bool { return c.GPU != nil }) {
		// Virtual functions are published beside the GPUs that they belong to.
		g.cards = slices.DeleteFunc(g.cards, func(c *Card) bool { return c.Uncounted })
	}
	return g.cards
}

// grouping puts devices together that are one card.
type grouping struct {
	types     Types
	addresses map[string]string // PCI addresses of GPUs, by UUID
	byID      map[string]*Card
	cards     []*Card
}

func (g *grouping) add(d *Device, pool string) {
	kind := g.types.Of(d)
	if kind == NoGPU {
		return
	}
	id := g.cardID(kind, d)
	uncounted := id == ""
	if uncounted {
		id = "pool " + pool
		if kind == GPU || kind == VFIO {
			id, uncounted = id+"/"+d.Name, false
		}
	}
	c := g.byID[id]
	if c == nil {
		c = &Card{Uncounted: uncounted}
		g.byID[id] = c
		g.cards = append(g.cards, c)
	}
	switch kind {
	case GPU:
		c.GPU = d
	case VFIO:
		c.VFIO = d
	default:
		c.Parts = append(c.Parts, d)
	}
}

// cardID identifies the card of a device by its PCI address if that is known, otherwise by a UUID. Empty: nothing says which
// card it is. The UUID of a VFIO device is not that of the GPU, so its PCI address comes first.
func (g *grouping) cardID(kind Kind, d *Device) string {
	switch kind {
	case VF:
		return ""
	case Part:
		return cmp.Or(g.addresses[d.ParentUUID], d.ParentPCI, d.PCIBusID, d.ParentUUID)
	}
	return cmp.Or(d.PCIBusID, g.addresses[d.UUID], d.UUID)
}
