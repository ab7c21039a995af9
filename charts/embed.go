// Package charts holds the Helm chart and what Go code needs of it.
package charts

import _ "embed"

// CRD is the CustomResourceDefinition of GpuInventory as controller-gen writes it: one YAML document, without the labels
// and annotations that the chart adds. It is used by the manager's --install-crds, by tests and by the demo.
//
//go:embed gpu-inventory-operator/files/crds/homelab.youngju.dev_gpuinventories.yaml
var CRD []byte
