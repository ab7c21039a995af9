package gpu

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/quantity"
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
	for name := range r.node.Status.Capacity {
		r.addResource(string(name))
	}
	for name := range r.node.Status.Allocatable {
		if _, seen := r.node.Status.Capacity[name]; !seen {
			r.addResource(string(name))
		}
	}
	slices.SortFunc(r.resources, func(a, b resourceUnits) int { return cmp.Compare(a.name, b.name) })
	r.settleResources()
}

func (r *reader) addResource(name string) {
	if !strings.Contains(name, "/") {
		return
	}
	class, ok := Classify(name, r.opts)
	if !ok {
		return
	}
	u := resourceUnits{ResourceClass: class, name: name}
	u.capacity, u.allocatable = r.unitsOf(corev1.ResourceName(name))
	r.resources = append(r.resources, u)
}

// unitsOf reads capacity and allocatable of one name. As in the API, a Node without any allocatable offers its capacity;
// as in the scheduler, a name that is missing from allocatable offers nothing.
func (r *reader) unitsOf(name corev1.ResourceName) (capacity, allocatable int64) {
	status := &r.node.Status
	c, hasCapacity := status.Capacity[name]
	a, hasAllocatable := status.Allocatable[name]
	if status.Allocatable == nil {
		a = c
	}
	if !hasCapacity && hasAllocatable {
		c = a
	}
	capacity, ok := quantity.Units(c)
	allocatable, aok := quantity.Units(a)
	if !ok || !aok {
		r.warn(v1.WarningInvalidLabel)
	}
	return capacity, min(allocatable, capacity)
}

// settleResources drops the names that turn out to be no devices of this node, and records the others.
func (r *reader) settleResources() {
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
	l := r.node.Labels
	return l[labelWorkload] == string(v1.WorkloadModeVMPassthrough) || l[labelDeployPrefix+"vfio-manager"] != "" ||
		l[labelDeployPrefix+"sandbox-device-plugin"] != "" || l[labelDeployPrefix+"kata-sandbox-device-plugin"] != ""
}

// capacityOf adds up the capacity of a vendor's resources of some kinds.
func (r *reader) capacityOf(vendor v1.Vendor, kinds ...UnitKind) int64 {
	var sum int64
	for _, u := range r.resources {
		if u.Vendor == vendor && slices.Contains(kinds, u.Kind) {
			sum += u.capacity
		}
	}
	return min(sum, maxUnits)
}

// live returns a vendor's resources of some kinds that have units.
func (r *reader) live(vendor v1.Vendor, kinds ...UnitKind) []resourceUnits {
	var out []resourceUnits
	for _, u := range r.resources {
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
