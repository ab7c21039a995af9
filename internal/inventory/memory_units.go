package inventory

import (
	"math"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// disputed reports whether two sources disagree about the row's count.
func disputed(row *v1.GpuNode) bool { return slices.Contains(row.Warnings, v1.WarningCountMismatch) }

// backed reports whether there are as many units of the vendor as the group has GPUs.
func backed(row *v1.GpuNode, g v1.GpuGroup) bool {
	if g.Count == nil || divided(row.Sharing) {
		return false
	}
	var units int64
	for _, u := range unitsOf(row.Resources, g.Vendor) {
		units = addUnits(units, u.Capacity)
	}
	return units == int64(*g.Count)
}

func onlyUnits(groups []v1.GpuGroup) bool {
	return !slices.ContainsFunc(groups, func(g v1.GpuGroup) bool { return g.Source != v1.SourceResources })
}

// unitsOf are the resources that may be a vendor's.
func unitsOf(resources []v1.NodeResource, vendor v1.Vendor) []v1.NodeResource {
	var out []v1.NodeResource
	for _, u := range resources {
		if driver, ok := strings.CutPrefix(u.Name, gpu.DRAResource("")); ok {
			if v, known := gpu.DriverVendor(driver, gpu.Options{}); !known || v == vendor {
				out = append(out, u)
			}
			continue
		}
		if class, known := gpu.Classify(u.Name, gpu.Options{}); !known || class.Vendor == vendor {
			out = append(out, u)
		}
	}
	return out
}

// subset reports whether every name of a is in b.
func subset(a, b []v1.NodeResource) bool {
	return !slices.ContainsFunc(a, func(u v1.NodeResource) bool {
		return !slices.ContainsFunc(b, func(w v1.NodeResource) bool { return w.Name == u.Name })
	})
}

// total adds up counts. One unknown count makes the sum unknown.
func total(groups []v1.GpuGroup) *int32 {
	var sum int64
	for _, g := range groups {
		if g.Count == nil {
			return nil
		}
		sum += int64(*g.Count)
	}
	if len(groups) == 0 {
		return nil
	}
	return new(int32(min(sum, math.MaxInt32)))
}

func groupsOf(facts []fact) []v1.GpuGroup {
	out := make([]v1.GpuGroup, 0, len(facts))
	for _, f := range facts {
		out = append(out, f.GpuGroup)
	}
	return out
}

// sameUnits reports whether two lists have the same names with the same capacities.
func sameUnits(a, b []v1.NodeResource) bool {
	return slices.EqualFunc(a, b, func(u, w v1.NodeResource) bool { return u.Name == w.Name && u.Capacity == w.Capacity })
}

// divided reports whether units are parts of GPUs, or may be.
func divided(s v1.Sharing) bool { return s != "" && s != v1.SharingNone }
