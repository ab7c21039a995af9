package gpu

import (
	"maps"
	"slices"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// reader reads one Node.
type reader struct {
	input
	findings
	collected
	vendorStrength

	mode v1.WorkloadMode // what the GPUs are prepared for, decided before everything else
}

// input is what is read.
type input struct {
	facts   *Facts
	devices *dra.Devices
	opts    Options
}

// collected is what each kind of source says. It is complete once all collectors have run.
type collected struct {
	resources []resourceUnits
	drivers   []gpuDriver
	gfd       gfdLabels
	operator  operatorLabels
	hami      hamiAnnotations
	amd       amdLabels
	intel     intelLabels
	cloud     cloudLabels
}

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

// vendorStrength is how much the evidence of each vendor is worth. A vendor without evidence has no entry.
type vendorStrength struct{ strength map[v1.Vendor]strength }

// mark raises what the evidence of a vendor is worth.
func (v vendorStrength) mark(vendor v1.Vendor, s strength) {
	if s > v.strength[vendor] {
		v.strength[vendor] = s
	}
}

// vendors returns the vendors that have evidence, sorted.
func (v vendorStrength) vendors() []v1.Vendor { return slices.Sorted(maps.Keys(v.strength)) }

func newReader(in input) *reader {
	return &reader{input: in, vendorStrength: vendorStrength{map[v1.Vendor]strength{}}}
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

// Read returns what the facts of a Node and its DRA devices, as DevicesByNode returns them, say about the node's GPUs. Devices
// may be nil. The options must be those that the facts were made with. Read returns false if there is no evidence of GPUs.
// Then the row says only whether and why the Node is not ready, for a node that is remembered to have had GPUs, and the
// evidence is what was seen and does not count. Equal inputs give equal readings. Read changes nothing.
func Read(facts *Facts, devices *dra.Devices, opts Options) (Reading, bool) {
	if facts == nil {
		return Reading{}, false
	}
	r := newReader(input{facts, devices, opts})
	r.entries = make([]Evidence, 0, min(facts.labels.Len()+8, 64))
	for _, collect := range collectors {
		collect(r)
	}
	if len(r.strength) == 0 {
		row := v1.GpuNode{Name: facts.name, Unschedulable: facts.unschedulable()}
		r.judge(&row)
		return Reading{Row: row, Evidence: r.sorted()}, false
	}
	row := r.decide()
	return Reading{Row: row, Evidence: r.sorted()}, true
}

// label reads a label that has a value, and records it. An empty value is no evidence of anything.
func (r *reader) label(key, says string) string {
	v := r.facts.labels.Get(key)
	if v != "" {
		r.see(KindLabel, key, v, says)
	}
	return v
}

// number reads a label that holds a plain number from low to high. It is nil when the label is absent, and nil with a
// warning when its value is anything else.
func (r *reader) number(key string, low, high int64, says string) *int64 {
	v, ok := r.facts.labels.Lookup(key)
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
	v := r.facts.labels.Get(key)
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
