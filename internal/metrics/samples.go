package metrics

import (
	"math"
	"strings"
)

// label is a label of a series. A builder has one for each name and value, so equal labels are equal pointers.
type label struct {
	name, value string
	text        string // as the text format has it; set by renderText
}

// maxLabels is the most labels that a gauge of the collector has.
const maxLabels = 6

// labels are the labels of a series, in the order of its gauge. The rest is nil.
type labels [maxLabels]*label

// sample is one series.
type sample struct {
	gauge  *gauge
	labels labels
	value  float64
}

// builder collects samples.
type builder struct {
	samples  []sample
	interned map[labelKey]*label
	// scope has the indices of the samples that the next one may have to be joined with.
	scope map[scopeKey]int
}

type labelKey struct{ name, value string }

type scopeKey struct {
	gauge  *gauge
	labels labels
}

func newBuilder(samples int) *builder {
	return &builder{
		samples:  make([]sample, 0, samples),
		interned: map[labelKey]*label{},
		scope:    map[scopeKey]int{},
	}
}

// newScope promises that no later sample has the same gauge and labels as an earlier one, which keeps scope small.
func (b *builder) newScope() { clear(b.scope) }

// label returns the label with a name and a value. A value that is not UTF-8 would make the whole scrape fail, so invalid
// bytes become the replacement character.
func (b *builder) label(name, value string) *label {
	k := labelKey{name, strings.ToValidUTF8(value, "\uFFFD")}
	l := b.interned[k]
	if l == nil {
		l = &label{name: k.name, value: k.value}
		b.interned[k] = l
	}
	return l
}

// add adds a sample. The labels must be those of the gauge, in its order. Forged or invalid values can lead to two samples
// with the same labels. They are joined, because a series that occurs twice would make the whole scrape fail.
func (b *builder) add(g *gauge, value float64, ls ...*label) {
	k := scopeKey{gauge: g}
	copy(k.labels[:], ls)
	if i, ok := b.scope[k]; ok {
		b.samples[i].value = g.join(b.samples[i].value, value)
		return
	}
	b.scope[k] = len(b.samples)
	b.samples = append(b.samples, sample{gauge: g, labels: k.labels, value: value})
}

// addIfKnown adds a sample unless its value is nil.
func addIfKnown[T int32 | int64](b *builder, g *gauge, value *T, ls ...*label) {
	if value != nil {
		b.add(g, float64(*value), ls...)
	}
}

// all iterates over the samples that have a value.
func (b *builder) all(yield func(*sample) bool) {
	for i := range b.samples {
		if s := &b.samples[i]; !math.IsNaN(s.value) && !yield(s) {
			return
		}
	}
}

func sum(a, b float64) float64      { return a + b }
func greatest(a, b float64) float64 { return max(a, b) }

// same returns the value if both are equal. If not, neither is right, and NaN leaves the series out.
func same(a, b float64) float64 {
	if a == b {
		return a
	}
	return math.NaN()
}
