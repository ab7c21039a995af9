package gpu

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

const (
	labelExpected      = "nvsentinel.dgxc.nvidia.com/gpu.count.expected"
	labelSimulatedPool = "run.ai/simulated-gpu-node-pool"
	annotationKWOK     = "kwok.x-k8s.io/node"
)

// pressures are conditions of the Node that are worth knowing and say nothing about GPUs.
var pressures = map[corev1.NodeConditionType]v1.Warning{
	corev1.NodeMemoryPressure:     v1.WarningMemoryPressure,
	corev1.NodeDiskPressure:       v1.WarningDiskPressure,
	corev1.NodePIDPressure:        v1.WarningPIDPressure,
	corev1.NodeNetworkUnavailable: v1.WarningNetworkUnavailable,
}

// decideWarnings adds what a person should know and what does not change ready.
func (r *reader) decideWarnings(row *v1.GpuNode) {
	r.warnNode()
	r.warnUnhealthy(row)
	r.warnMissing(row)
	r.warnLabels(row)
	r.warnReplicas()
	r.warnOverlap()
}

func (r *reader) warnNode() {
	if r.facts.cordoned {
		r.warn(v1.WarningCordoned)
		r.see(KindNode, "spec.unschedulable", "true", "the node is cordoned")
		r.use(KindNode, "spec.unschedulable", fieldWarnings)
	}
	for _, c := range r.facts.conditions {
		text := c.text.Value()
		if w, ok := pressures[text.kind]; ok && text.status == corev1.ConditionTrue {
			r.warn(w)
			r.seeCondition(c, "the node is under pressure", fieldWarnings)
		}
	}
	if v := r.facts.annotation(annotationKWOK); v != "" {
		r.warn(v1.WarningSimulated)
		r.see(KindAnnotation, annotationKWOK, v, "the node is simulated")
	}
	if r.label(labelSimulatedPool, "the node's GPUs are simulated") != "" {
		r.warn(v1.WarningSimulated)
	}
}

// warnUnhealthy tells of units that are there and cannot be allocated while others can.
func (r *reader) warnUnhealthy(row *v1.GpuNode) {
	if !anyAllocatable(row) {
		return
	}
	for _, u := range row.Resources {
		if u.Allocatable < u.Capacity {
			r.warn(v1.WarningSomeGpusUnhealthy)
			r.explain(fmt.Sprintf("%s: %d of %d units allocatable", u.Name, u.Allocatable, u.Capacity))
		}
	}
	for _, vendor := range r.vendors() {
		if r.idle(vendor) {
			r.warn(v1.WarningSomeGpusUnhealthy)
			r.explain("no unit of the " + string(vendor) + " GPUs is allocatable")
		}
	}
	r.explain(r.blockedDevices()...)
	if n := r.hami.unhealthy(); n > 0 {
		r.warn(v1.WarningSomeGpusUnhealthy)
		r.use(KindAnnotation, r.hami.key, fieldWarnings)
		r.explain("HAMi reports " + plural(n, "unhealthy GPU"))
	}
}

// idle reports whether a vendor's GPUs are there and none can be had. AMD and Intel hardware that no plugin was ever
// registered for does not count: in most machines it is the processor's own graphics.
func (r *reader) idle(vendor v1.Vendor) bool {
	s := r.strength[vendor]
	if s < detected || r.serves(vendor) {
		return false
	}
	own := vendor == v1.VendorAMD || vendor == v1.VendorIntel
	return !own || slices.ContainsFunc(r.resources, func(u resourceUnits) bool { return u.Vendor == vendor })
}

// serves reports whether any unit of a vendor is allocatable.
func (s *collected) serves(vendor v1.Vendor) bool {
	for _, u := range s.resources {
		if u.Vendor == vendor && u.allocatable > 0 {
			return true
		}
	}
	for _, d := range s.drivers {
		if d.vendor == vendor && (!d.complete() || d.allocatable > 0) {
			return true
		}
	}
	return false
}

// warnMissing tells of GPUs that a platform, a machine type or a learned figure says should be there.
func (r *reader) warnMissing(row *v1.GpuNode) {
	for _, c := range r.faults(faultMissing) {
		r.warn(v1.WarningGpuMissing)
		r.seeCondition(c, "GPUs are gone", fieldWarnings)
		r.explain(describeFault(c))
	}
	expected := r.number(labelExpected, 1, maxGPUs, "learned number of GPUs of this kind of machine")
	if expected != nil && row.GpuCount != nil && int64(*row.GpuCount) < *expected {
		r.warn(v1.WarningGpuMissing)
		r.use(KindLabel, labelExpected, fieldWarnings)
		r.explain(fmt.Sprintf("%d of %d expected GPUs found", *row.GpuCount, *expected))
	}
	r.warnMachine(row)
}

// warnMachine compares with the machine type.
func (r *reader) warnMachine(row *v1.GpuNode) {
	if r.cloud.count == nil {
		return
	}
	var found int64
	for _, g := range row.Gpus {
		switch {
		case g.Vendor != r.cloud.vendor:
		case g.Count == nil:
			return
		default:
			found += int64(*g.Count)
		}
	}
	if found > 0 && found < *r.cloud.count {
		r.warn(v1.WarningGpuMissing)
		r.use(KindLabel, r.cloud.countKey, fieldWarnings)
		r.explain(fmt.Sprintf("%d of %d GPUs of the machine type found", found, *r.cloud.count))
	}
}

// warnLabels tells of labels that contradict each other or what is offered, and of labels that should be there.
func (r *reader) warnLabels(row *v1.GpuNode) {
	o, g := &r.operator, &r.gfd
	serving := r.serves(v1.VendorNVIDIA)
	if o.absent && serving {
		r.warn(v1.WarningLabelConflict)
		r.use(KindLabel, labelPresent, fieldWarnings)
	}
	if g.product.invalid && serving || g.product.shared && g.strategy == "none" {
		r.warn(v1.WarningLabelConflict)
		r.use(KindLabel, labelProduct, fieldWarnings)
	}
	if o.migState == "failed" {
		r.warn(v1.WarningMIGConfigFailed)
		r.use(KindLabel, labelMIGState, fieldWarnings)
	}
	if o.upgrade == upgradeQueued {
		r.warn(v1.WarningDriverUpgradePending)
		r.use(KindLabel, labelUpgradeState, fieldWarnings)
	}
	if r.missesLabels(row) {
		r.warn(v1.WarningLabelsMissing)
	}
}

// missesLabels reports whether GFD should have named the GPUs, going by the GPU Operator's labels, and has not.
func (r *reader) missesLabels(row *v1.GpuNode) bool {
	o := &r.operator
	deployed := o.selects("gpu-feature-discovery", "device-plugin") || o.workload == v1.WorkloadModeContainer
	if !o.present && !deployed || o.selects("dra-driver") || row.WorkloadMode != v1.WorkloadModeContainer {
		return false
	}
	return r.gfd.product.raw == "" && unnamed(row, v1.VendorNVIDIA)
}

// unnamed reports whether a vendor's GPUs have no product.
func unnamed(row *v1.GpuNode, vendor v1.Vendor) bool {
	for _, g := range row.Gpus {
		if g.Vendor == vendor && g.Product == "" {
			return true
		}
	}
	return false
}

// warnReplicas compares units with GPUs times replicas, where both are known.
func (r *reader) warnReplicas() {
	g := &r.gfd
	if g.count == nil || g.replicas == nil || *g.replicas < 1 || r.otherSharing() != "" || r.migVariant() == "mixed" {
		return
	}
	units := r.capacityOf(v1.VendorNVIDIA, UnitShared)
	whole := r.capacityOf(v1.VendorNVIDIA, UnitWhole)
	if units == 0 && g.product.shared {
		units, whole = whole, 0
	}
	if units > 0 && whole == 0 && units != *g.count**g.replicas {
		r.warn(v1.WarningReplicasMismatch)
		r.use(KindLabel, labelReplicas, fieldWarnings)
	}
}

// overlapping are pairs of kinds whose units may be the same GPUs.
var overlapping = [][2]UnitKind{
	{UnitAlias, UnitIndexed}, {UnitAlias, UnitWhole}, {UnitIndexed, UnitWhole}, {UnitSlot, UnitWhole}, {UnitCards, UnitWhole},
}

// warnOverlap tells of several names that may count the same GPUs.
func (r *reader) warnOverlap() {
	for _, vendor := range r.vendors() {
		if r.overlaps(vendor) {
			r.warn(v1.WarningOverlappingResources)
			r.useResources(vendor, fieldWarnings, containerKinds...)
		}
	}
}

func (s *collected) overlaps(vendor v1.Vendor) bool {
	for _, pair := range overlapping {
		if len(s.live(vendor, pair[0])) > 0 && len(s.live(vendor, pair[1])) > 0 {
			return true
		}
	}
	if vendor == v1.VendorNVIDIA && len(s.live(vendor, UnitWhole)) > 0 && s.allBehindShared() {
		return true
	}
	plugin := len(s.live(vendor, UnitWhole, UnitShared, UnitMIG, UnitMIGShared, UnitPartition)) > 0
	return plugin && slices.ContainsFunc(s.drivers, func(d gpuDriver) bool { return d.vendor == vendor && d.capacity > 0 })
}
