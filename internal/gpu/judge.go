package gpu

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// check finds one reason why a node is not ready. It returns the message, and whether the reason applies.
type check struct {
	reason v1.Reason
	find   func(*reader, *v1.GpuNode) (message string, applies bool)
}

// checks are in order: the first that applies wins. The Node's own state comes before work on its GPUs, work before faults,
// and faults before what follows from them.
var checks = []check{
	{v1.ReasonNodeDeleting, (*reader).nodeDeleting},
	{v1.ReasonNodeStatusUnknown, readyIs(corev1.ConditionUnknown)},
	{v1.ReasonNodeNotReady, (*reader).nodeNotReady},
	{v1.ReasonReadyConditionMissing, (*reader).readyMissing},
	{v1.ReasonDriverUpgrading, (*reader).driverUpgrading},
	{v1.ReasonDriverUpgradeFailed, (*reader).driverUpgradeFailed},
	{v1.ReasonMIGReconfiguring, (*reader).migReconfiguring},
	{v1.ReasonMIGInvalid, (*reader).migInvalid},
	{v1.ReasonMIGEnabledNoInstances, (*reader).migNoInstances},
	{v1.ReasonVgpuReconfiguring, (*reader).vgpuReconfiguring},
	{v1.ReasonVgpuConfigFailed, (*reader).vgpuFailed},
	{v1.ReasonOperandsDisabled, (*reader).operandsDisabled},
	{v1.ReasonGpuHealthCondition, (*reader).gpuFault},
	{v1.ReasonResourceSlicePoolIncomplete, (*reader).poolIncomplete},
	{v1.ReasonNoAllocatableGpu, (*reader).noneAllocatable},
	{v1.ReasonDevicePluginNotRegistered, (*reader).notRegistered},
}

// judge sets ready, reason and message.
func (r *reader) judge(row *v1.GpuNode) {
	row.Reason, row.Ready = v1.ReasonOK, true
	for _, c := range checks {
		if message, applies := c.find(r, row); applies {
			row.Reason, row.Ready, row.Message = c.reason, false, message
			break
		}
	}
	parts := make([]string, 0, 3)
	if row.Message != "" {
		parts = append(parts, row.Message)
	}
	if row.Ready || row.Reason == v1.ReasonNoAllocatableGpu {
		parts = append(parts, r.details...)
	}
	if r.expectsNoLabels(row.WorkloadMode) && unnamed(row, v1.VendorNVIDIA) {
		parts = append(parts, fmt.Sprintf(
			"GPU feature discovery does not run on %s nodes, so missing labels are expected there", row.WorkloadMode))
	}
	row.Message = strings.Join(parts, "; ")
}

// anyAllocatable reports whether the scheduler can hand out any GPU unit of the node.
func anyAllocatable(row *v1.GpuNode) bool {
	return slices.ContainsFunc(row.Resources, func(u v1.NodeResource) bool { return u.Allocatable > 0 })
}

func (r *reader) nodeDeleting(*v1.GpuNode) (string, bool) {
	t := r.facts.deleted
	if t == nil {
		return "", false
	}
	r.see(KindNode, "metadata.deletionTimestamp", timeText(t.Time), "the Node is being deleted")
	r.use(KindNode, "metadata.deletionTimestamp", fieldReady)
	return "the Node is being deleted since " + timeText(t.Time), true
}

// ready finds the Ready condition. It returns false if the Node has none. The API does not forbid a second one; then one that
// is not True is believed.
func (r *reader) ready() (found nodeCondition, ok bool) {
	for _, c := range r.facts.conditions {
		if c.text.Value().kind == corev1.NodeReady && (!ok || found.text.Value().status == corev1.ConditionTrue) {
			found, ok = c, true
		}
	}
	return found, ok
}

// readyIs applies when the Ready condition has a status.
func readyIs(status corev1.ConditionStatus) func(*reader, *v1.GpuNode) (string, bool) {
	return func(r *reader, _ *v1.GpuNode) (string, bool) {
		c, ok := r.ready()
		if !ok || c.text.Value().status != status {
			return "", false
		}
		r.seeCondition(c, "the Node's own word about itself", fieldReady)
		return describeReady(c), true
	}
}

// nodeNotReady applies to every status of Ready that is not True, also to one that the API does not know.
func (r *reader) nodeNotReady(*v1.GpuNode) (string, bool) {
	c, ok := r.ready()
	if !ok || c.text.Value().status == corev1.ConditionTrue {
		return "", false
	}
	r.seeCondition(c, "the Node's own word about itself", fieldReady)
	return describeReady(c), true
}

func (r *reader) readyMissing(*v1.GpuNode) (string, bool) {
	c, ok := r.ready()
	if ok {
		r.seeCondition(c, "the Node's own word about itself", fieldReady)
		return "", false
	}
	return "the Node has no Ready condition: its kubelet has not reported yet, or none runs", true
}
