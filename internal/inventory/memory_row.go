package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// recollection completes one reading by what is known of the Node.
type recollection struct {
	*known
	row   v1.GpuNode // as read
	isGPU bool
	now   time.Time

	unnamed  bool // a product is remembered, not read
	shared   bool // so is the way of sharing
	replaced bool // other products than before
}

// complete gives the row, and updates what is known.
func (r *recollection) complete() v1.GpuNode {
	was := r.facts
	r.settle()
	r.facts = r.merge()
	out := r.row
	if seen := r.firstLost(); seen != nil {
		out = r.remembered()
		out.LastSeen = seen
	}
	if !r.isGPU {
		judgeLost(&out)
	}
	r.countMost(&out)
	r.warn(&out)
	r.learn(&out, was)
	return out
}

// settle goes back to what was known before units and labels disagreed, when it turns out that the units are parts of GPUs:
// when replicas or slices are switched on, units often come first and are taken for GPUs until labels follow.
func (r *recollection) settle() {
	switch {
	case !r.isGPU:
	case disputed(&r.row):
		if r.settled == nil {
			r.settled = r.facts
		}
	default:
		parts := divided(r.row.Sharing) || slices.ContainsFunc(r.row.Gpus, func(g v1.GpuGroup) bool { return g.Variant != "" })
		if len(r.settled) > 0 && parts {
			r.facts, r.mixed = r.settled, false
		}
		r.settled = nil
	}
}

// merge completes the reading vendor by vendor.
func (r *recollection) merge() []fact {
	live, old := map[v1.Vendor][]v1.GpuGroup{}, map[v1.Vendor][]fact{}
	var vendors []v1.Vendor
	for _, g := range r.row.Gpus {
		vendors = append(vendors, g.Vendor)
		live[g.Vendor] = append(live[g.Vendor], g)
	}
	var lost bool
	for _, f := range r.facts {
		vendors = append(vendors, f.Vendor)
		old[f.Vendor] = append(old[f.Vendor], f)
		lost = lost || live[f.Vendor] == nil
	}
	slices.Sort(vendors)
	var out []fact
	for _, vendor := range slices.Compact(vendors) {
		// Beside GPUs that are known, hardware that nothing more is known of was no news, and is none when they are lost.
		if lost && old[vendor] == nil && !slices.ContainsFunc(live[vendor], says) {
			continue
		}
		out = append(out, r.mergeVendor(live[vendor], old[vendor])...)
	}
	slices.SortStableFunc(out, func(a, b fact) int {
		return cmp.Or(cmp.Compare(a.Vendor, b.Vendor), cmp.Compare(a.Product, b.Product), cmp.Compare(a.Variant, b.Variant))
	})
	return out
}

// remembered is the row with the merged facts.
func (r *recollection) remembered() v1.GpuNode {
	out := r.row
	out.Gpus = make([]v1.GpuGroup, 0, len(r.facts))
	for _, f := range r.facts {
		g := f.GpuGroup
		if !f.live {
			g.Source = v1.SourceLastKnown
		}
		out.Gpus = append(out.Gpus, g)
	}
	out.GpuCount = total(out.Gpus)
	if r.shared && !divided(out.Sharing) || out.Sharing == "" {
		out.Sharing = cmp.Or(r.sharing, out.Sharing)
	}
	out.WorkloadMode = cmp.Or(out.WorkloadMode, r.mode)
	return out
}

// warn adds what the comparison with earlier readings shows.
func (r *recollection) warn(out *v1.GpuNode) {
	add := r.lossWarnings(out)
	if out.GpuCount != nil && *out.GpuCount < r.most.gpus {
		add = append(add, v1.WarningGpuMissing)
		out.Message = appendSentence(out.Message, fmt.Sprintf(missingFormat, *out.GpuCount, r.most.gpus))
	}
	if len(add) > 0 {
		out.Warnings = slices.Concat(out.Warnings, add)
		slices.Sort(out.Warnings)
		out.Warnings = slices.Compact(out.Warnings)
	}
}

// lossWarnings are those of facts that are no longer read.
func (r *recollection) lossWarnings(out *v1.GpuNode) (add []v1.Warning) {
	machines := out.WorkloadMode == v1.WorkloadModeVMPassthrough || out.WorkloadMode == v1.WorkloadModeVMVGPU
	if !r.isGPU || r.unnamed && !machines {
		add = append(add, v1.WarningLabelsMissing)
	}
	if !r.isGPU && out.Unschedulable && out.Reason != v1.ReasonNodeDeleting {
		add = append(add, v1.WarningCordoned)
	}
	if r.mixed && out.LastSeen != nil {
		add = append(add, v1.WarningMixedProducts)
	}
	return add
}

// judgeLost gives a node that shows no GPU any more its reason. The Node's own reason, and work on it, come first.
func judgeLost(out *v1.GpuNode) {
	switch out.Reason {
	case "", v1.ReasonOK, v1.ReasonNoAllocatableGpu, v1.ReasonDevicePluginNotRegistered:
	default:
		out.Ready = false
		return
	}
	out.Ready, out.Reason = false, v1.ReasonDevicePluginNotRegistered
	if len(out.Resources) > 0 {
		out.Reason = v1.ReasonNoAllocatableGpu
	}
	out.Message = "nothing on the Node speaks of its GPUs any more, last known: " + describe(out) +
		"; check feature discovery and the device plugin on it, or delete the Node object if the GPUs were taken out"
}

// learn updates what the completed row says beside its facts.
func (r *recollection) learn(out *v1.GpuNode, was []fact) {
	if !r.isGPU {
		return
	}
	known := func(vendor v1.Vendor) bool {
		return slices.ContainsFunc(was, func(f fact) bool { return f.Vendor == vendor })
	}
	r.facts = slices.DeleteFunc(r.facts, func(f fact) bool {
		return f.live && !says(f.GpuGroup) && !divided(out.Sharing) && !r.onBus && out.Reason != v1.ReasonNoAllocatableGpu && !known(f.Vendor)
	})
	r.sharing, r.mode = out.Sharing, out.WorkloadMode
	r.mixed = slices.Contains(out.Warnings, v1.WarningMixedProducts)
	waiting := slices.ContainsFunc(r.facts, func(f fact) bool {
		counted := f.live && f.Source == v1.SourceResources
		return !counted && !r.unitsBack(f.Vendor)
	})
	if !waiting {
		r.units = out.Resources
	}
}
