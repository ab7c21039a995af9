package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// metric is a sample as the client library takes it. Its parts are shared with other metrics and never change: a node's
// label is one for all its series, a value is one for all that have it, so thousands of metrics kept between scrapes cost
// little.
type metric struct {
	desc   *prometheus.Desc
	labels []*dto.LabelPair
	gauge  *dto.Gauge
}

// Desc implements prometheus.Metric.
func (m *metric) Desc() *prometheus.Desc { return m.desc }

// Write implements prometheus.Metric.
func (m *metric) Write(out *dto.Metric) error {
	out.Label, out.Gauge = m.labels, m.gauge
	return nil
}

// renderMetrics turns samples into what the client library takes.
func renderMetrics(b *builder) []prometheus.Metric {
	for _, l := range b.interned {
		l.pair = &dto.LabelPair{Name: &l.name, Value: &l.value}
	}
	gauges := map[float64]*dto.Gauge{}
	slab := make([]metric, 0, len(b.samples))
	out := make([]prometheus.Metric, 0, len(b.samples))
	var unused []*dto.LabelPair // one allocation for the labels of many metrics
	for s := range b.all {
		n := len(s.gauge.Labels)
		if len(unused) < n {
			unused = make([]*dto.LabelPair, 1024)
		}
		labels := unused[:n:n]
		unused = unused[n:]
		for i := range labels {
			labels[i] = s.labels[i].pair
		}
		g := gauges[s.value]
		if g == nil {
			g = &dto.Gauge{Value: new(s.value)}
			gauges[s.value] = g
		}
		slab = append(slab, metric{s.gauge.desc, labels, g})
		out = append(out, &slab[len(slab)-1])
	}
	return out
}
