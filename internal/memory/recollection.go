package memory

import (
	"cmp"
	"slices"
	"time"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// recollection completes one reading by what is remembered of the Node, and updates the latter.
type recollection struct {
	*remembered
	row   v1.GpuNode // as read
	isGPU bool
	now   time.Time

	productRecalled bool // a product is remembered, not read
	sharingRecalled bool // so is the way of sharing
	replaced        bool // there are other products than before
}

// complete returns the completed row.
func (r *recollection) complete() v1.GpuNode {
	before := r.groups
	r.trackDispute()
	r.groups = r.merge()
	out := r.row
	if seen := r.firstLost(); seen != nil {
		out = r.withLastKnown()
		out.LastSeen = seen
	}
	if !r.isGPU {
		judgeLost(&out)
	}
	r.countMost(&out)
	r.warn(&out)
	r.learn(&out, before)
	out.Message = inventory.Clip(out.Message, v1.MaxMessageBytes)
	out.Gpus = out.Gpus[:min(len(out.Gpus), v1.MaxGroups)]
	return out
}

// trackDispute keeps the groups from before units and labels disagreed, and goes back to them when the units turn out to be
// parts of GPUs: when replicas or slices are switched on, units often come first and are taken for GPUs until labels follow.
func (r *recollection) trackDispute() {
	switch {
	case !r.isGPU:
	case disputed(&r.row):
		if r.beforeDispute == nil {
			r.beforeDispute = r.groups
		}
	default:
		parts := divided(r.row.Sharing) || slices.ContainsFunc(r.row.Gpus, func(g v1.GpuGroup) bool { return g.Variant != "" })
		if len(r.beforeDispute) > 0 && parts {
			r.groups, r.mixed = r.beforeDispute, false
		}
		r.beforeDispute = nil
	}
}

// merge completes the reading vendor by vendor.
func (r *recollection) merge() []group {
	live, old := map[v1.Vendor][]v1.GpuGroup{}, map[v1.Vendor][]group{}
	var vendors []v1.Vendor
	for _, g := range r.row.Gpus {
		vendors = append(vendors, g.Vendor)
		live[g.Vendor] = append(live[g.Vendor], g)
	}
	var lost bool
	for _, g := range r.groups {
		vendors = append(vendors, g.Vendor)
		old[g.Vendor] = append(old[g.Vendor], g)
		lost = lost || live[g.Vendor] == nil
	}
	slices.Sort(vendors)
	var out []group
	for _, vendor := range slices.Compact(vendors) {
		// The engine ignores the mere presence of hardware beside GPUs of another vendor. When those can no longer be read, it
		// reports the hardware, which is still no news.
		if lost && old[vendor] == nil && !slices.ContainsFunc(live[vendor], saysMore) {
			continue
		}
		out = append(out, r.mergeVendor(live[vendor], old[vendor])...)
	}
	slices.SortStableFunc(out, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.Vendor, b.Vendor), cmp.Compare(a.Product, b.Product), cmp.Compare(a.Variant, b.Variant))
	})
	return out
}

// withLastKnown returns the row with the merged groups.
func (r *recollection) withLastKnown() v1.GpuNode {
	out := r.row
	out.Gpus = make([]v1.GpuGroup, 0, len(r.groups))
	for _, g := range r.groups {
		if !g.live {
			g.Source = v1.SourceLastKnown
		}
		out.Gpus = append(out.Gpus, g.GpuGroup)
	}
	out.GpuCount = inventory.TotalCount(out.Gpus)
	if r.sharingRecalled && !divided(out.Sharing) || out.Sharing == "" {
		out.Sharing = cmp.Or(r.sharing, out.Sharing)
	}
	out.WorkloadMode = cmp.Or(out.WorkloadMode, r.mode)
	return out
}

// judgeLost sets the reason of a node that shows no GPU any more. The Node's own reason, and work on it, come first.
func judgeLost(out *v1.GpuNode) {
	out.Ready = false
	switch out.Reason {
	case "", v1.ReasonOK, v1.ReasonNoAllocatableGpu, v1.ReasonDevicePluginNotRegistered:
	default:
		return
	}
	out.Reason = v1.ReasonDevicePluginNotRegistered
	if len(out.Resources) > 0 {
		out.Reason = v1.ReasonNoAllocatableGpu
	}
	out.Message = "nothing on the Node speaks of its GPUs any more, last known: " + inventory.Describe(out) +
		"; check feature discovery and the device plugin on it, or delete the Node object if the GPUs were taken out"
}

// warn adds the warnings that follow from the comparison with earlier readings.
func (r *recollection) warn(out *v1.GpuNode) {
	var add []v1.Warning
	machines := out.WorkloadMode == v1.WorkloadModeVMPassthrough || out.WorkloadMode == v1.WorkloadModeVMVGPU
	if !r.isGPU || r.productRecalled && !machines {
		add = append(add, v1.WarningLabelsMissing)
	}
	if !r.isGPU && out.Unschedulable && out.Reason != v1.ReasonNodeDeleting {
		add = append(add, v1.WarningCordoned)
	}
	if r.mixed && out.LastSeen != nil {
		add = append(add, v1.WarningMixedProducts)
	}
	if r.reportMissing(out) {
		add = append(add, v1.WarningGpuMissing)
	}
	if len(add) > 0 {
		out.Warnings = slices.Concat(out.Warnings, add)
		slices.Sort(out.Warnings)
		out.Warnings = slices.Compact(out.Warnings)
	}
}

// learn remembers what the completed row says besides its groups. before is the groups that were remembered before.
func (r *recollection) learn(out *v1.GpuNode, before []group) {
	if !r.isGPU {
		return
	}
	isNew := func(vendor v1.Vendor) bool {
		return !slices.ContainsFunc(before, func(g group) bool { return g.Vendor == vendor })
	}
	r.groups = slices.DeleteFunc(r.groups, func(g group) bool {
		return g.live && !saysMore(g.GpuGroup) && !divided(out.Sharing) && !r.onBus && out.Reason != v1.ReasonNoAllocatableGpu && isNew(g.Vendor)
	})
	r.sharing, r.mode = out.Sharing, out.WorkloadMode
	r.mixed = slices.Contains(out.Warnings, v1.WarningMixedProducts)
	waiting := slices.ContainsFunc(r.groups, func(g group) bool {
		counted := g.live && g.Source == v1.SourceResources
		return !counted && !r.unitsBack(g.Vendor)
	})
	if !waiting {
		r.units = out.Resources
	}
}
