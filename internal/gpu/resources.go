package gpu

import (
	"cmp"
	"slices"
	"strconv"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Extended resources are written by the kubelet from what device plugins register. They need a driver and a plugin.
//
//   - A unit is what the scheduler counts: a GPU, a replica, a slice, a vGPU. Only the name, and labels, tell which.
//   - A sick device stays in capacity and leaves allocatable. A plugin that goes makes allocatable 0 at once and capacity 0
//     some minutes later; the name stays with 0 for ever, also after a rename. So a 0 proves that there once was a plugin,
//     and says nothing about mode or sharing.
//   - While the kubelet is down the figures are frozen.

// resourceUnits is one GPU resource of the node.
type resourceUnits struct {
	ResourceClass
	name                  string
	capacity, allocatable int64
}

// collectResources records every resource that can be a GPU, also those with 0 units.
func (r *reader) collectResources() {
	for _, a := range r.facts.capacity {
		r.addResource(a.name)
	}
	for _, a := range r.facts.allocatable {
		if _, seen := find(r.facts.capacity, a.name); !seen {
			r.addResource(a.name)
		}
	}
	slices.SortFunc(r.resources, func(a, b resourceUnits) int { return cmp.Compare(a.name, b.name) })
	r.dropNonDevices()
}

func (r *reader) addResource(name string) {
	class, ok := Classify(name, r.opts)
	if !ok {
		return
	}
	u := resourceUnits{ResourceClass: class, name: name}
	u.capacity, u.allocatable = r.unitsOf(name)
	r.resources = append(r.resources, u)
}

// unitsOf reads capacity and allocatable of one name. As in the API, a Node without any allocatable offers its capacity;
// as in the scheduler, a name that is missing from allocatable offers nothing.
func (r *reader) unitsOf(name string) (capacity, allocatable int64) {
	c, hasCapacity := find(r.facts.capacity, name)
	a, hasAllocatable := find(r.facts.allocatable, name)
	if r.facts.allocatable == nil {
		a = c
	}
	if !hasCapacity && hasAllocatable {
		c = a
	}
	capacity, ok := believed(c)
	allocatable, aok := believed(a)
	if !ok || !aok {
		r.warn(v1.WarningInvalidLabel)
	}
	return capacity, min(allocatable, capacity)
}

// dropNonDevices drops the names that turn out to be no devices of this node, and records the others.
func (r *reader) dropNonDevices() {
	passthrough := r.passesThrough()
	devices := slices.ContainsFunc(r.resources, func(u resourceUnits) bool {
		return u.capacity > 0 && u.Kind != UnitQuantity && u.Kind != UnitFree
	})
	r.resources = slices.DeleteFunc(r.resources, func(u resourceUnits) bool {
		return u.Kind == UnitFree && !passthrough || u.Kind == UnitQuantity && (devices || u.capacity == 0)
	})
	for _, u := range r.resources {
		r.seeResource(u)
	}
}

func (r *reader) seeResource(u resourceUnits) {
	says, s := "a device plugin offers it", counted
	switch {
	case u.capacity == 0:
		says, s = "a device plugin was registered once; offers nothing now", registered
	case u.allocatable < u.capacity:
		says = "a device plugin offers it; some units are unhealthy or the plugin is gone"
	}
	r.see(KindResource, u.name, strconv.FormatInt(u.allocatable, 10)+" of "+strconv.FormatInt(u.capacity, 10), says)
	r.mark(u.Vendor, s)
}

// passesThrough reports whether the node is meant to pass GPUs to virtual machines, so that any name may be a GPU.
func (r *reader) passesThrough() bool {
	l := r.facts.labels
	return l.Get(labelWorkload) == string(v1.WorkloadModeVMPassthrough) || l.Get(labelDeployPrefix+"vfio-manager") != "" ||
		l.Get(labelDeployPrefix+"sandbox-device-plugin") != "" || l.Get(labelDeployPrefix+"kata-sandbox-device-plugin") != ""
}

// capacityOf adds up the capacity of a vendor's resources of some kinds.
func (s *collected) capacityOf(vendor v1.Vendor, kinds ...UnitKind) int64 {
	var sum int64
	for _, u := range s.resources {
		if u.Vendor == vendor && slices.Contains(kinds, u.Kind) {
			sum += u.capacity
		}
	}
	return min(sum, maxUnits)
}

// live returns a vendor's resources of some kinds that have units.
func (s *collected) live(vendor v1.Vendor, kinds ...UnitKind) []resourceUnits {
	var out []resourceUnits
	for _, u := range s.resources {
		if u.Vendor == vendor && u.capacity > 0 && slices.Contains(kinds, u.Kind) {
			out = append(out, u)
		}
	}
	return out
}

// useResources marks a vendor's live resources of some kinds as what decided a field.
func (r *reader) useResources(vendor v1.Vendor, field string, kinds ...UnitKind) {
	for _, u := range r.live(vendor, kinds...) {
		r.use(KindResource, u.name, field)
	}
}

// rows are the schedulable resources, sorted. A name with 0 units is history and has no row.
func (r *reader) rows() []v1.NodeResource {
	var rows []v1.NodeResource
	for _, u := range r.resources {
		if u.capacity > 0 {
			rows = append(rows, v1.NodeResource{Name: u.name, Capacity: u.capacity, Allocatable: u.allocatable})
			r.use(KindResource, u.name, fieldResources)
		}
	}
	for _, d := range r.drivers {
		if d.complete() && d.capacity > 0 {
			rows = append(rows, v1.NodeResource{Name: "dra:" + d.name, Capacity: d.capacity, Allocatable: d.allocatable})
			r.useDriver(d, fieldResources)
		}
	}
	slices.SortFunc(rows, func(a, b v1.NodeResource) int { return cmp.Compare(a.Name, b.Name) })
	return rows
}
