package gpu

import (
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// The NVIDIA GPU Operator and its managers write these labels; administrators write workload.config, mig.config,
// vgpu.config and gpu.deploy.operands.
//
//   - gpu.present=true and gpu.deploy.* follow NFD's PCI labels. When those vanish, gpu.present becomes false and
//     gpu.deploy.* go. gpu.present=false is therefore "no, or not any more", and no evidence.
//   - workload.config stays when everything else goes. The operator ignores it unless sandbox workloads are enabled, and
//     treats an unknown value as absent.
//   - The *.state labels and the driver upgrade state outlive the work that they describe: upgrade-done and success are the
//     steady states, upgrade-required only means queued.

const (
	labelPresent        = "nvidia.com/gpu.present"
	labelWorkload       = "nvidia.com/gpu.workload.config"
	labelDeployPrefix   = "nvidia.com/gpu.deploy."
	labelDeployOperands = "nvidia.com/gpu.deploy.operands"
	labelUpgradeState   = "nvidia.com/gpu-driver-upgrade-state"
	labelUpgradeAMD     = "operator.amd.com/gpu-driver-upgrade-state"
	labelVGPUConfig     = "nvidia.com/vgpu.config"
	labelVGPUState      = "nvidia.com/vgpu.config.state"
)

// pausedFor are the ends of gpu.deploy.* values while a manager has stopped the operand.
const (
	pausedForMIG    = "paused-for-mig-change"
	pausedForVGPU   = "paused-for-vgpu-change"
	pausedForDriver = "paused-for-driver-upgrade"
)

// operatorLabels is what the GPU Operator and administrators say.
type operatorLabels struct {
	absent    bool              // gpu.present=false
	present   bool              // gpu.present=true
	workload  v1.WorkloadMode   // declared; empty: not, or not in a way that the operator accepts
	deploy    map[string]string // operand -> value, for gpu.deploy.*
	upgrade   string            // driver upgrade state
	migState  string
	vgpuState string
}

func (r *reader) collectOperator() {
	o := &r.operator
	switch r.choice(labelPresent, "the GPU Operator saw an NVIDIA device on the bus, or no longer does", "true", "false") {
	case "true":
		o.present = true
		r.mark(v1.VendorNVIDIA, detected)
	case "false":
		o.absent = true
	}
	r.collectDeploy()
	r.collectWorkload()
	o.upgrade = r.label(labelUpgradeState, "state of the driver upgrade")
	if o.upgrade == "" {
		o.upgrade = amdUpgrade(r.label(labelUpgradeAMD, "state of the AMD driver upgrade"))
	}
	o.migState = r.label(labelMIGState, "state of the last change of the MIG layout")
	o.vgpuState = r.label(labelVGPUState, "state of the last change of the vGPU layout")
	for _, key := range []string{labelMIGConfig, labelVGPUConfig} {
		if r.label(key, "an administrator asked for this layout") != "" {
			r.mark(v1.VendorNVIDIA, intended)
		}
	}
}

// collectDeploy reads gpu.deploy.<operand>. The value false is an administrator's, so it does not prove hardware.
func (r *reader) collectDeploy() {
	r.operator.deploy = map[string]string{}
	for key, v := range r.facts.labels.Prefix(labelDeployPrefix) {
		r.see(KindLabel, key, v, "the GPU Operator deploys this operand here, or has paused it")
		r.operator.deploy[strings.TrimPrefix(key, labelDeployPrefix)] = v
		if key != labelDeployOperands && v != "false" {
			r.mark(v1.VendorNVIDIA, detected)
		}
	}
}

// collectWorkload reads the declared workload mode. As in the GPU Operator, an unknown value counts as absent.
func (r *reader) collectWorkload() {
	v := r.label(labelWorkload, "an administrator declared the workload mode")
	if v == "" {
		return
	}
	r.mark(v1.VendorNVIDIA, intended)
	switch mode := v1.WorkloadMode(v); mode {
	case v1.WorkloadModeContainer, v1.WorkloadModeVMPassthrough, v1.WorkloadModeVMVGPU:
		r.operator.workload = mode
	default:
		r.warn(v1.WarningInvalidWorkloadConfig)
		r.use(KindLabel, labelWorkload, fieldWarnings)
	}
}

// deploys reports whether an operand runs here now: not switched off, not paused.
func (o *operatorLabels) deploys(operands ...string) bool {
	return slices.ContainsFunc(operands, func(name string) bool {
		v, ok := o.deploy[name]
		return ok && v != "false" && !strings.Contains(v, "paused-for-")
	})
}

// selects reports whether an operand belongs to this node, running or paused.
func (o *operatorLabels) selects(operands ...string) bool {
	return slices.ContainsFunc(operands, func(name string) bool {
		v, ok := o.deploy[name]
		return ok && v != "false"
	})
}

// paused names the first operand that a manager has stopped for a reason.
func (o *operatorLabels) paused(reason string) (operand string, ok bool) {
	var names []string
	for name, v := range o.deploy {
		if strings.HasSuffix(v, reason) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", false
	}
	return slices.Min(names), true
}

// upgradeWindow are the states in which the driver upgrade has taken the node's GPUs away, or is about to.
var upgradeWindow = []string{
	"cordon-required", "wait-for-jobs-required", "pod-deletion-required", "drain-required", "node-maintenance-required",
	"post-maintenance-required", "pod-restart-required", "validation-required", "uncordon-required",
}

const (
	upgradeQueued = "upgrade-required"
	upgradeFailed = "upgrade-failed"
)

// amdUpgrade translates the state labels of the AMD GPU Operator to those of NVIDIA's.
func amdUpgrade(state string) string {
	switch s := strings.ToLower(state); {
	case strings.HasSuffix(s, "-failed"), strings.HasSuffix(s, "-timed-out"):
		return upgradeFailed
	case strings.HasSuffix(s, "in-progress"), s == "upgrade-started", s == "install-complete":
		return "pod-restart-required"
	case slices.Contains(upgradeWindow, s), s == upgradeFailed, s == upgradeQueued:
		return s
	}
	return ""
}
