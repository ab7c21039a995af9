package metrics

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// textOf reads the text of a Collector back in, so that a registry can check it and the tools of the client library can
// compare and lint it.
type textOf struct{ *Collector }

// Describe implements prometheus.Collector.
func (c textOf) Describe(ch chan<- *prometheus.Desc) { describe(ch) }

func describe(ch chan<- *prometheus.Desc) {
	for _, g := range inventoryGauges {
		ch <- descOf(g)
	}
}

func descOf(g *gauge) *prometheus.Desc { return prometheus.NewDesc(g.Name, g.Help, g.Labels, nil) }

// Collect implements prometheus.Collector. What is wrong becomes an error of the registry.
func (c textOf) Collect(ch chan<- prometheus.Metric) {
	inventories, nodes := c.texts()
	families, err := parseText(bytes.NewReader(bytes.Join(append(slices.Clone(inventories), nodes...), nil)))
	if err != nil {
		ch <- prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
		return
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			ch <- metricOf(f, m)
		}
	}
}

// metricOf returns a metric that was read from a text, or an invalid one if the text does not say what its gauge says.
func metricOf(f *dto.MetricFamily, m *dto.Metric) prometheus.Metric {
	shape := Family{Name: f.GetName(), Type: Type(strings.ToLower(f.GetType().String())), Help: f.GetHelp()}
	var values []string
	for _, l := range m.GetLabel() {
		shape.Labels, values = append(shape.Labels, l.GetName()), append(values, l.GetValue())
	}
	for _, g := range inventoryGauges {
		if g.Name == shape.Name && cmp.Equal(g.Family, shape) {
			return prometheus.MustNewConstMetric(descOf(g), prometheus.GaugeValue, m.GetGauge().GetValue(), values...)
		}
	}
	err := fmt.Errorf("no gauge is %+v", shape)
	return prometheus.NewInvalidMetric(prometheus.NewInvalidDesc(err), err)
}

// plain exposes the samples of a State without making text of them, as the client library would have it.
type plain func() State

// Describe implements prometheus.Collector.
func (p plain) Describe(ch chan<- *prometheus.Desc) { describe(ch) }

// Collect implements prometheus.Collector.
func (p plain) Collect(ch chan<- prometheus.Metric) {
	state := p()
	b := newBuilder(0)
	for name, s := range state.Inventories {
		addInventory(b, name, s)
		addPools(b, name, state.Pools[name])
	}
	if state.Fleet != nil {
		addNodes(b, state.Fleet.Nodes)
	}
	descs := map[*gauge]*prometheus.Desc{}
	for s := range b.all {
		if descs[s.gauge] == nil {
			descs[s.gauge] = descOf(s.gauge)
		}
		var values [maxLabels]string
		for i := range s.gauge.Labels {
			values[i] = s.labels[i].value
		}
		ch <- prometheus.MustNewConstMetric(descs[s.gauge], prometheus.GaugeValue, s.value, values[:len(s.gauge.Labels)]...)
	}
}

// gather reads the text of a Collector through a registry that checks everything that the client library can check.
func gather(t *testing.T, c *Collector) []*dto.MetricFamily {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(textOf{c}); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatalf("Gather() error = %v", err)
	}
	return families
}

func parseText(text io.Reader) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(text)
}

// parse reads the text format.
func parse(t *testing.T, text io.Reader) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := parseText(text)
	if err != nil {
		t.Fatalf("parse the exposition: %v", err)
	}
	return families
}

// series flattens families to `name{label="value",...}` and their values.
func series(families ...*dto.MetricFamily) map[string]float64 {
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			out[f.GetName()+"{"+strings.Join(labels, ",")+"}"] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return out
}

func TestAPedanticRegistryNoticesABrokenText(t *testing.T) {
	broken := map[string]func(texts [][]byte) [][]byte{
		"a series that occurs twice": func(texts [][]byte) [][]byte {
			line := texts[0][bytes.LastIndexByte(texts[0][:len(texts[0])-1], '\n')+1:]
			return append([][]byte{append(slices.Clone(texts[0]), line...)}, texts[1:]...)
		},
		"another help":      func(texts [][]byte) [][]byte { return replace(texts, "GPU nodes seen.", "GPU nodes.") },
		"another type":      func(texts [][]byte) [][]byte { return replace(texts, "_nodes gauge", "_nodes counter") },
		"another label":     func(texts [][]byte) [][]byte { return replace(texts, "inventory=", "name=") },
		"an unknown metric": func(texts [][]byte) [][]byte { return replace(texts, nameNodes, nameNodes+"_seen") },
		"no text format":    func([][]byte) [][]byte { return [][]byte{[]byte("{}\n")} },
	}
	for name, damage := range broken {
		t.Run(name, func(t *testing.T) {
			c := collectorOf(stateOf(smallFleet()))
			c.texts()
			c.cache.inventories = damage(c.cache.inventories)
			reg := prometheus.NewPedanticRegistry()
			reg.MustRegister(textOf{c})
			if _, err := reg.Gather(); err == nil {
				t.Error("Gather() error = nil")
			}
		})
	}
}

// replace returns texts in which one string stands for another.
func replace(texts [][]byte, old, with string) [][]byte {
	out := slices.Clone(texts)
	for i := range out {
		out[i] = bytes.ReplaceAll(out[i], []byte(old), []byte(with))
	}
	return out
}
