package gpu

import (
	"slices"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// The workload mode is what the GPUs are prepared for. An administrator declares it; without a valid declaration the GPU
// Operator's operands, then the resources, show which mode is in effect, and container is the default. A declaration that the
// operator ignores (sandbox workloads off) shows as a conflict with the operands or the resources, and is told as a warning.

// Operands that exist in one mode only.
var (
	operandsVGPU        = []string{"vgpu-manager", "vgpu-device-manager"}
	operandsPassthrough = []string{"vfio-manager", "kata-sandbox-device-plugin"}
	operandsContainer   = []string{"device-plugin", "container-toolkit"}
)

func (r *reader) decideMode() v1.WorkloadMode {
	mode := r.operator.workload
	switch {
	case mode != "":
		r.use(KindLabel, labelWorkload, fieldMode)
		r.compareModes(mode)
		return mode
	case r.amd.mode == "vf-passthrough" || r.amd.mode == "pf-passthrough":
		r.use(KindLabel, labelAMDMode, fieldMode)
		return v1.WorkloadModeVMPassthrough
	}
	return r.effectiveMode()
}

// effectiveMode is the mode that operands and resources show.
func (r *reader) effectiveMode() v1.WorkloadMode {
	o := &r.operator
	switch {
	case o.selects(operandsVGPU...):
		r.useOperands(operandsVGPU)
		return v1.WorkloadModeVMVGPU
	case o.selects(operandsPassthrough...):
		r.useOperands(operandsPassthrough)
		return v1.WorkloadModeVMPassthrough
	case o.selects(operandsContainer...), r.capacityOf(v1.VendorNVIDIA, containerKinds...) > 0:
		r.useOperands(operandsContainer)
		return v1.WorkloadModeContainer
	case r.capacityOf(v1.VendorNVIDIA, UnitVGPU) > 0:
		r.useResources(v1.VendorNVIDIA, fieldMode, UnitVGPU)
		return v1.WorkloadModeVMVGPU
	case r.capacityOf(v1.VendorNVIDIA, UnitPassthrough, UnitFree) > 0, r.onlyVFIO():
		r.useResources(v1.VendorNVIDIA, fieldMode, UnitPassthrough, UnitFree)
		return v1.WorkloadModeVMPassthrough
	}
	return v1.WorkloadModeContainer
}

func (r *reader) useOperands(operands []string) {
	for _, name := range operands {
		r.use(KindLabel, labelDeployPrefix+name, fieldMode)
	}
}

// onlyVFIO reports whether all published devices are for virtual machines.
func (s *collected) onlyVFIO() bool {
	var vfio bool
	for _, d := range s.drivers {
		for _, c := range d.cards {
			if c.GPU != nil || len(c.Parts) > 0 {
				return false
			}
			vfio = true
		}
	}
	return vfio
}

// compareModes warns when operands or resources show another mode than the declared one.
func (r *reader) compareModes(declared v1.WorkloadMode) {
	containers := r.operator.deploys("device-plugin") || r.gfd.product.shared ||
		r.capacityOf(v1.VendorNVIDIA, containerKinds...) > 0
	machines := r.operator.deploys(slices.Concat(operandsVGPU, operandsPassthrough)...) ||
		r.capacityOf(v1.VendorNVIDIA, UnitPassthrough, UnitFree, UnitVGPU) > 0
	conflict := machines
	if declared != v1.WorkloadModeContainer {
		conflict = containers
	}
	if conflict {
		r.warn(v1.WarningWorkloadModeMismatch)
		r.use(KindLabel, labelWorkload, fieldWarnings)
	}
}
