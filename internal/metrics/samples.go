package metrics

import (
	"math"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// label is a label of a series. A builder has one for each name and value, so equal pointers mean equal labels.
type label struct {
	name, value string
	text        string         // as the text format has it; set by renderText
	pair        *dto.LabelPair // as the client library has it; set by renderMetrics
}

// maxLabels is the most labels that a gauge of the collector has.
const maxLabels = 6

// labels are those of a series, in the order of its gauge; the rest is nil.
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
	// scope is where the samples are with which a further one may share gauge and labels.
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

// newScope says that no further sample has the gauge and labels of an earlier one, so that few have to be remembered.
func (b *builder) newScope() { clear(b.scope) }

// label gives a label. A value that is not UTF-8 would make the whole scrape fail, so what cannot be read of it becomes
// the replacement character.
func (b *builder) label(name, value string) *label {
	k := labelKey{name, strings.ToValidUTF8(value, "\uFFFD")}
	l := b.interned[k]
	if l == nil {
		l = &label{name: k.name, value: k.value}
		b.interned[k] = l
	}
	return l
}

// add adds a sample. The labels must be those of the gauge, in its order. Samples with the same labels, which forged or
// unreadable values can cause, are joined: a series that occurs twice would make the whole scrape fail.
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

// addKnown adds a sample unless its value is unknown.
func addKnown[T int32 | int64](b *builder, g *gauge, value *T, ls ...*label) {
	if value != nil {
		b.add(g, float64(*value), ls...)
	}
}

// all gives the samples that have a value.
func (b *builder) all(yield func(*sample) bool) {
	for i := range b.samples {
		if s := &b.samples[i]; !math.IsNaN(s.value) && !yield(s) {
			return
		}
	}
}

func sum(a, b float64) float64      { return a + b }
func greatest(a, b float64) float64 { return max(a, b) }

// same gives the value that both agree on. Where they do not, there is no right one, and the series is left out.
func same(a, b float64) float64 {
	if a == b {
		return a
	}
	return math.NaN()
}
