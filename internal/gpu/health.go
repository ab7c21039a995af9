package gpu

import (
	"cmp"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Platforms report GPU faults as Node conditions, each with its own polarity: False is bad for some, True for most, and a
// name that contains "Unhealthy" or "Ready" does not tell. So only types in this table count. The status Unknown, and a type
// that is not here, is neither fault nor health.

// faultScope says what a fault takes away.
type faultScope int

const (
	// faultNode makes the whole node's GPUs unfit for work.
	faultNode faultScope = iota
	// faultMissing says that GPUs are gone; those that are left work.
	faultMissing
)

// fault is how one condition type reports a fault.
type fault struct {
	status corev1.ConditionStatus
	scope  faultScope
}

// healthConditions are the condition types that report GPU faults, by the platform that sets them.
var healthConditions = map[corev1.NodeConditionType]fault{
	// EKS node monitoring agent.
	"AcceleratedHardwareReady": {status: corev1.ConditionFalse},
	// GKE device plugin.
	"XidCriticalError": {status: corev1.ConditionTrue},
	// AKS node problem detector.
	"GPUMissing":                       {status: corev1.ConditionTrue, scope: faultMissing},
	"XIDErrors":                        {status: corev1.ConditionTrue},
	"GPUXIDErrors":                     {status: corev1.ConditionTrue},
	"NVLinkStatusInactive":             {status: corev1.ConditionTrue},
	"IBLinkFlapping":                   {status: corev1.ConditionTrue},
	"GPUClockThrottling":               {status: corev1.ConditionTrue},
	"UnhealthyNvidiaDevicePlugin":      {status: corev1.ConditionTrue},
	"UnhealthyNvidiaDCGMServices":      {status: corev1.ConditionTrue},
	"kubernetes.azure.com/NodeHealthy": {status: corev1.ConditionFalse},
	// Nebius.
	"NebiusGPUError": {status: corev1.ConditionTrue},
	// AMD GPU Operator with node problem detector; the documentation and the tests name it differently.
	"AMDGPUProblem":   {status: corev1.ConditionTrue},
	"AMDGPUUnhealthy": {status: corev1.ConditionTrue},
	// NVSentinel.
	"GpuMemWatch":         {status: corev1.ConditionTrue},
	"GpuThermalWatch":     {status: corev1.ConditionTrue},
	"GpuPcieWatch":        {status: corev1.ConditionTrue},
	"GpuPowerWatch":       {status: corev1.ConditionTrue},
	"GpuInforomWatch":     {status: corev1.ConditionTrue},
	"GpuSmWatch":          {status: corev1.ConditionTrue},
	"GpuNvlinkWatch":      {status: corev1.ConditionTrue},
	"GpuMcuWatch":         {status: corev1.ConditionTrue},
	"GpuPmuWatch":         {status: corev1.ConditionTrue},
	"GpuDriverWatch":      {status: corev1.ConditionTrue},
	"GpuCpusetWatch":      {status: corev1.ConditionTrue},
	"SysLogsXIDError":     {status: corev1.ConditionTrue},
	"SysLogsSXIDError":    {status: corev1.ConditionTrue},
	"SysLogsGPUFallenOff": {status: corev1.ConditionTrue},
	"NVSwitchFatalError":  {status: corev1.ConditionTrue},
	"NVSwitchDown":        {status: corev1.ConditionTrue},
	"DCGMError":           {status: corev1.ConditionTrue},
}

// faults returns the conditions that report a fault of a scope, sorted by type.
func (r *reader) faults(scope faultScope) []nodeCondition {
	var out []nodeCondition
	for _, c := range r.facts.conditions {
		text := c.text.Value()
		if f, ok := healthConditions[text.kind]; ok && f.scope == scope && f.status == text.status {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b nodeCondition) int { return cmp.Compare(a.text.Value().kind, b.text.Value().kind) })
	return out
}

// xidPattern finds the number of an NVIDIA XID error in texts such as NvidiaXID79Error, "Xid 48" or {"79":"..."}.
var xidPattern = regexp.MustCompile(`(?i)(?:xid[^0-9a-z]{0,4}|\{")([0-9]{1,4})\b|xid([0-9]{1,4})`)

// xid is the number of the first XID that a condition names. Empty: none.
func xid(c conditionText) string {
	for _, text := range []string{c.reason, c.message} {
		if m := xidPattern.FindStringSubmatch(text); m != nil {
			return m[1] + m[2]
		}
	}
	return ""
}
