package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

var namespaceAllocated = prometheus.NewDesc(
	familyNamespaceAllocated.Name, familyNamespaceAllocated.Help, familyNamespaceAllocated.Labels, nil)

// Namespaces exposes what pods and claims hold, by namespace. It is not registered by default, because a cluster may have ten
// thousand namespaces.
type Namespaces struct {
	// Held returns what is held, by namespace and resource. It returns false if that is not known, or if this replica does
	// not lead.
	Held func() (holders.Held, bool)
}

// Describe implements prometheus.Collector.
func (n Namespaces) Describe(ch chan<- *prometheus.Desc) { ch <- namespaceAllocated }

// Collect implements prometheus.Collector.
func (n Namespaces) Collect(ch chan<- prometheus.Metric) {
	held, ok := n.Held()
	if !ok {
		return
	}
	for namespace, units := range held {
		for resource, count := range units {
			ch <- prometheus.MustNewConstMetric(namespaceAllocated, prometheus.GaugeValue, float64(count),
				strings.ToValidUTF8(namespace, "\uFFFD"), strings.ToValidUTF8(resource, "\uFFFD"))
		}
	}
}
