package gpu

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// strength is how much the evidence of a vendor is worth, from nothing to most.
type strength int

const (
	nothing    strength = iota
	intended            // a person, a cloud or an autoscaler says that there should be GPUs
	detected            // hardware was seen on the bus; needs no driver
	registered          // a resource name is there with 0 units: a plugin was registered once
	discovered          // the vendor's discovery named the GPUs; needs a driver
	counted             // units or devices can be counted now
)

// reader is what one Node says, while it is being read.
type reader struct {
	ledger
	node     *corev1.Node
	opts     Options
	devices  *dra.Devices
	strength map[v1.Vendor]strength

	resources []resourceUnits
	drivers   []gpuDriver
	gfd       gfdFacts
	operator  operatorFacts
	hami      hamiFacts
	amd       amdFacts
	intel     intelFacts
	cloud     cloudFacts

	// mode is what the GPUs are prepared for, decided before everything else.
	mode v1.WorkloadMode
	// details are sentences that explain a warning on a ready node.
	details []string
}

// collectors gather the evidence. None depends on another.
var collectors = []func(*reader){
	(*reader).collectResources,
	(*reader).collectSlices,
	(*reader).collectGFD,
	(*reader).collectOperator,
	(*reader).collectHAMi,
	(*reader).collectAMD,
	(*reader).collectIntel,
	(*reader).collectPCI,
	(*reader).collectCloud,
}

// Read says what a Node and its DRA devices tell about the node's GPUs. It returns false when there is no evidence of
// GPUs: then the row says no more than whether and why the Node is not ready, for a node that is remembered to have had
// GPUs, and the evidence is what was seen and does not count. Equal inputs give equal readings: no clock, no heartbeat and no map order takes part.
func Read(in Input, opts Options) (Reading, bool) {
	if in.Node == nil {
		return Reading{}, false
	}
	r := &reader{node: in.Node, devices: in.Devices, opts: opts, strength: map[v1.Vendor]strength{}}
	r.entries = make([]Evidence, 0, min(len(in.Node.Labels)+8, 64))
	for _, collect := range collectors {
		collect(r)
	}
	if len(r.strength) == 0 {
		row := v1.GpuNode{Name: in.Node.Name, Unschedulable: in.Node.Spec.Unschedulable || in.Node.DeletionTimestamp != nil}
		r.judge(&row)
		return Reading{Row: row, Evidence: r.sorted()}, false
	}
	row := r.decide()
	return Reading{Row: row, Evidence: r.sorted()}, true
}

// mark raises what the evidence of a vendor is worth.
func (r *reader) mark(vendor v1.Vendor, s strength) {
	if s > r.strength[vendor] {
		r.strength[vendor] = s
	}
}

// label reads a label that has a value, and records it. An empty value is no evidence of anything.
func (r *reader) label(key, says string) string {
	v := r.node.Labels[key]
	if v != "" {
		r.see(KindLabel, key, v, says)
	}
	return v
}

// number reads a label that holds a plain number from low to high. It is nil when the label is absent, and nil with a
// warning when its value is anything else.
func (r *reader) number(key string, low, high int64, says string) *int64 {
	v, ok := r.node.Labels[key]
	if !ok {
		return nil
	}
	n, ok := parseCount(v, high)
	if !ok || n < low {
		r.invalid(key, v)
		return nil
	}
	r.see(KindLabel, key, v, says)
	return new(n)
}

// invalid records a label whose value cannot be read.
func (r *reader) invalid(key, value string) {
	r.see(KindLabel, key, value, "cannot be read, so it was ignored")
	r.warn(v1.WarningInvalidLabel)
	r.use(KindLabel, key, fieldWarnings)
}

// choice reads a label whose values form a closed list. Another value is ignored with a warning.
func (r *reader) choice(key, says string, values ...string) string {
	v := r.node.Labels[key]
	switch {
	case v == "":
		return ""
	case slices.Contains(values, v):
		r.see(KindLabel, key, v, says)
		return v
	}
	r.invalid(key, v)
	return ""
}

// withPrefix returns the keys of the labels that start with a prefix, sorted.
func (r *reader) withPrefix(prefix string) []string {
	var keys []string
	for k := range r.node.Labels {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// vendors returns the vendors that have evidence, sorted.
func (r *reader) vendors() []v1.Vendor { return slices.Sorted(maps.Keys(r.strength)) }
