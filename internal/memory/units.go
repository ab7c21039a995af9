package memory

import (
	"slices"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// disputed reports whether two sources disagree about the row's count.
func disputed(row *v1.GpuNode) bool { return slices.Contains(row.Warnings, v1.WarningCountMismatch) }

// divided reports whether units are parts of GPUs, or may be.
func divided(s v1.Sharing) bool { return s != "" && s != v1.SharingNone }

// backed reports whether there are as many units of the vendor as the group has GPUs.
func backed(row *v1.GpuNode, g v1.GpuGroup) bool {
	if g.Count == nil || divided(row.Sharing) {
		return false
	}
	left := int64(*g.Count)
	for _, u := range unitsOf(row.Resources, g.Vendor) {
		if u.Capacity > left {
			return false
		}
		left -= u.Capacity
	}
	return left == 0
}

// onlyUnits reports whether all that is known of the groups are units.
func onlyUnits(groups []v1.GpuGroup) bool {
	return !slices.ContainsFunc(groups, func(g v1.GpuGroup) bool { return g.Source != v1.SourceResources })
}

// saysMore reports whether a group says more than that there is a GPU.
func saysMore(g v1.GpuGroup) bool {
	return g.Product != "" || g.Variant != "" || g.Count != nil || g.MemoryMiB != nil || g.MemoryPerUnitMiB != nil
}

// unitsOf returns the resources that may be a vendor's.
func unitsOf(resources []v1.NodeResource, vendor v1.Vendor) []v1.NodeResource {
	var out []v1.NodeResource
	for _, u := range resources {
		if v, ok := inventory.VendorOf(u.Name); !ok || v == vendor {
			out = append(out, u)
		}
	}
	return out
}

// unitsBack reports whether every resource of a vendor that stood for its GPUs is there, or others have taken their place.
func (r *recollection) unitsBack(vendor v1.Vendor) bool {
	was, is := unitsOf(r.units, vendor), unitsOf(r.row.Resources, vendor)
	return subset(was, is) || !subset(is, was)
}

// subset reports whether every name of a is in b.
func subset(a, b []v1.NodeResource) bool {
	return !slices.ContainsFunc(a, func(u v1.NodeResource) bool {
		return !slices.ContainsFunc(b, func(w v1.NodeResource) bool { return w.Name == u.Name })
	})
}

// sameUnits reports whether two lists have the same names with the same capacities.
func sameUnits(a, b []v1.NodeResource) bool {
	return slices.EqualFunc(a, b, func(u, w v1.NodeResource) bool { return u.Name == w.Name && u.Capacity == w.Capacity })
}
