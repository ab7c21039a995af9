package gpu

import (
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// GPUs for virtual machines are advertised by the KubeVirt device plugin and its Kata relative. There is no driver on the
// host, so neither GFD nor the container device plugin runs: labels that are still there describe an earlier life.
//
//   - Passthrough: one resource for each PCI device ID, named after the PCI database; a unit is one function of a card. The
//     audio function of a card is a resource too, and no GPU.
//   - vGPU: one resource for each type; a unit is a vGPU, and no label says on how many cards.

// machineGroups has a row for each model that virtual machines can get now.
func (r *reader) machineGroups() decision {
	c := decision{sharing: v1.SharingNone}
	for _, u := range r.live(v1.VendorNVIDIA, UnitPassthrough, UnitFree) {
		r.use(KindResource, u.name, fieldCount)
		r.use(KindResource, u.name, fieldProduct)
		c.groups = addGroup(c.groups, v1.GpuGroup{
			Vendor: v1.VendorNVIDIA, Product: u.Model, Count: count32(u.capacity), Source: v1.SourceResources,
		})
	}
	for _, g := range r.vgpuGroups() {
		c.groups = append(c.groups, g)
		c.sharing = v1.SharingVGPU
	}
	return c
}

// vgpuGroups has a row for each base model with vGPUs, whose number of cards is not known.
func (r *reader) vgpuGroups() []v1.GpuGroup {
	var groups []v1.GpuGroup
	for _, u := range r.live(v1.VendorNVIDIA, UnitVGPU) {
		for _, field := range []string{fieldProduct, fieldVariant, fieldSharing} {
			r.use(KindResource, u.name, field)
		}
		last := len(groups) - 1
		if last >= 0 && groups[last].Product == u.Model {
			groups[last].Variant = "vGPU-mixed"
			continue
		}
		groups = append(groups, v1.GpuGroup{
			Vendor: v1.VendorNVIDIA, Product: u.Model, Variant: "vGPU-" + u.Profile, Source: v1.SourceResources,
		})
	}
	return groups
}

// addGroup adds a row, or its count to the row of the same product and variant. An unknown count makes the sum unknown.
func addGroup(groups []v1.GpuGroup, g v1.GpuGroup) []v1.GpuGroup {
	for i := range groups {
		h := &groups[i]
		if h.Vendor != g.Vendor || h.Product != g.Product || h.Variant != g.Variant {
			continue
		}
		if h.Count == nil || g.Count == nil {
			h.Count = nil
		} else {
			h.Count = count32(int64(*h.Count) + int64(*g.Count))
		}
		if h.MemoryMiB == nil || g.MemoryMiB == nil || *h.MemoryMiB != *g.MemoryMiB {
			h.MemoryMiB = nil
		}
		return groups
	}
	return append(groups, g)
}

// expectsNoLabels reports whether GFD is not expected to run on the node.
func (r *reader) expectsNoLabels(mode v1.WorkloadMode) bool {
	return strings.HasPrefix(string(mode), "vm-") && r.gfd.product.raw == "" && r.strength[v1.VendorNVIDIA] > nothing
}
