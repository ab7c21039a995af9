// Package charts holds the Helm chart, and the parts of it that Go code needs.
package charts

import _ "embed"

// CRD is the CustomResourceDefinition of GpuInventory as controller-gen writes it: one YAML document, without the labels
// and annotations that the chart adds. The manager's --install-crds, tests and the demo use it.
//
//go:embed gpu-inventory-operator/files/crds/homelab.youngju.dev_gpuinventories.yaml
var CRD []byte
