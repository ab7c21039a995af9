package gpu

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// state decides ready by a label and says so.
func (r *reader) state(what, key string) (string, bool) {
	r.use(KindLabel, key, fieldReady)
	return fmt.Sprintf("%s: %s=%s", what, key, clip(r.facts.labels.Get(key), maxName)), true
}

// pausedBy applies when a manager has stopped an operand.
func (r *reader) pausedBy(what, reason string) (string, bool) {
	operand, ok := r.operator.paused(reason)
	if !ok {
		return "", false
	}
	return r.state(what, labelDeployPrefix+operand)
}

func (r *reader) upgradeKey() string {
	if r.facts.labels.Get(labelUpgradeState) != "" {
		return labelUpgradeState
	}
	return labelUpgradeAMD
}

func (r *reader) driverUpgrading(*v1.GpuNode) (string, bool) {
	const what = "the GPU driver is being upgraded"
	if slices.Contains(upgradeWindow, r.operator.upgrade) {
		return r.state(what, r.upgradeKey())
	}
	if r.operator.upgrade == upgradeFailed {
		return "", false
	}
	return r.pausedBy(what, pausedForDriver)
}

func (r *reader) driverUpgradeFailed(*v1.GpuNode) (string, bool) {
	if r.operator.upgrade != upgradeFailed {
		return "", false
	}
	return r.state("the GPU driver upgrade failed and waits for a person: see the driver pod of this node", r.upgradeKey())
}

func (r *reader) migReconfiguring(*v1.GpuNode) (string, bool) {
	const what = "the MIG layout is being changed"
	if s := r.operator.migState; s == "pending" || s == "rebooting" {
		message, _ := r.state(what, labelMIGState)
		if layout := r.facts.labels.Get(labelMIGConfig); layout != "" {
			message += ", to " + clip(layout, maxName)
		}
		return message, true
	}
	return r.pausedBy(what, pausedForMIG)
}

func (r *reader) migInvalid(*v1.GpuNode) (string, bool) {
	if !r.gfd.product.invalid || r.serves(v1.VendorNVIDIA) {
		return "", false
	}
	message, _ := r.state("the MIG layout does not fit the strategy, so nothing is offered", labelProduct)
	if layout := r.facts.labels.Get(labelMIGConfig); layout != "" {
		message += ", " + labelMIGConfig + "=" + clip(layout, maxName)
	}
	return message, true
}

func (r *reader) migNoInstances(row *v1.GpuNode) (string, bool) {
	if anyAllocatable(row) || !r.migEmpty() {
		return "", false
	}
	return "MIG is enabled and has no instances: set " + labelMIGConfig + " to a layout, or disable MIG", true
}

func (r *reader) vgpuReconfiguring(*v1.GpuNode) (string, bool) {
	const what = "the vGPU layout is being changed"
	if r.operator.vgpuState == "pending" {
		return r.state(what, labelVGPUState)
	}
	return r.pausedBy(what, pausedForVGPU)
}

func (r *reader) vgpuFailed(*v1.GpuNode) (string, bool) {
	if r.operator.vgpuState != "failed" {
		return "", false
	}
	message, _ := r.state("the vGPU layout could not be applied", labelVGPUState)
	if layout := r.facts.labels.Get(labelVGPUConfig); layout != "" {
		message += ", " + labelVGPUConfig + "=" + clip(layout, maxName)
	}
	return message, true
}

func (r *reader) operandsDisabled(row *v1.GpuNode) (string, bool) {
	if anyAllocatable(row) {
		return "", false
	}
	for _, name := range []string{"operands", "device-plugin", "sandbox-device-plugin"} {
		if r.operator.deploy[name] == "false" {
			return r.state("an administrator has switched GPU operands off", labelDeployPrefix+name)
		}
	}
	return "", false
}

// gpuFault applies to faults of the whole node, and to missing GPUs when none is left.
func (r *reader) gpuFault(row *v1.GpuNode) (string, bool) {
	faults := r.faults(faultNode)
	if !anyAllocatable(row) {
		faults = append(faults, r.faults(faultMissing)...)
	}
	var out []string
	for _, c := range faults {
		r.seeCondition(c, "a GPU fault is reported", fieldReady)
		out = append(out, describeFault(c))
	}
	return strings.Join(out, "; "), len(out) > 0
}

func (r *reader) poolIncomplete(row *v1.GpuNode) (string, bool) {
	if anyAllocatable(row) {
		return "", false
	}
	for _, d := range r.drivers {
		for _, p := range d.pools {
			if p.Complete() {
				continue
			}
			r.use(KindSlice, poolEvidence(p), fieldReady)
			if p.Duplicate != "" {
				return fmt.Sprintf("the pool %s of the DRA driver %s is invalid: it publishes the device %s twice",
					clip(p.Name, maxName), clip(p.Driver, maxName), clip(p.Duplicate, maxName)), true
			}
			return fmt.Sprintf("the pool %s of the DRA driver %s has %d of %d slices at generation %d",
				clip(p.Name, maxName), clip(p.Driver, maxName), p.Slices, p.WantSlices, p.Generation), true
		}
	}
	return "", false
}

// noneAllocatable applies when GPU units are, or once were, registered, and none can be handed out.
func (r *reader) noneAllocatable(row *v1.GpuNode) (string, bool) {
	if anyAllocatable(row) || len(r.resources)+len(row.Resources) == 0 {
		return "", false
	}
	var out []string
	for _, u := range row.Resources {
		out = append(out, fmt.Sprintf("%s: 0 of %d units allocatable", u.Name, u.Capacity))
	}
	if blocked := r.blockedDevices(); len(blocked) > 0 {
		return strings.Join(append(out, blocked...), "; "), true
	}
	if len(out) > 0 {
		return strings.Join(out, "; ") + ": all are unhealthy, or the device plugin is gone", true
	}
	for _, u := range r.resources {
		r.use(KindResource, u.name, fieldReady)
		out = append(out, u.name)
	}
	return strings.Join(out, ", ") + " registered with 0 units: the device plugin is gone or found no GPU", true
}

// notRegistered applies when nothing offers the GPUs that something else speaks of.
func (r *reader) notRegistered(row *v1.GpuNode) (string, bool) {
	if anyAllocatable(row) {
		return "", false
	}
	witness := r.witness()
	r.use(witness.Kind, witness.Key, fieldPresence)
	said := witness.Key + "=" + clip(witness.Value, maxName)
	for _, s := range r.strength {
		if s > intended {
			return said + " shows a GPU, but no GPU resource is registered with the kubelet: check " + operandsOf(row.WorkloadMode), true
		}
	}
	return said + " says that there should be a GPU, but no hardware was seen and no GPU resource is registered", true
}

// operandsOf names what offers GPUs in a mode.
func operandsOf(mode v1.WorkloadMode) string {
	switch mode {
	case v1.WorkloadModeVMPassthrough:
		return "the VFIO manager and the sandbox device plugin"
	case v1.WorkloadModeVMVGPU:
		return "the vGPU manager and the sandbox device plugin"
	}
	return "the driver and the device plugin, or the DRA driver"
}

// witnesses are prefixes of keys, from the one that says most about a GPU's presence.
var witnesses = []string{
	labelProduct, labelAMDPrefix, labelAMDBeta, "gpu.intel.com/", annotationHAMiPrefix, labelPCIPrefix, "feature.node.", "intel.feature.",
	labelCount, labelPresent, labelDeployPrefix, labelWorkload, labelMIGConfig, labelVGPUConfig, "",
}

// witness picks the piece of evidence that is told when nothing else is known.
func (r *reader) witness() Evidence {
	entries := r.sorted()
	for _, prefix := range witnesses {
		for _, e := range entries {
			if (e.Kind == KindLabel || e.Kind == KindAnnotation) && strings.HasPrefix(e.Key, prefix) {
				return e
			}
		}
	}
	return Evidence{Kind: KindSlice, Key: "ResourceSlices", Value: "none"}
}
