package operator

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventoryfile"
)

// Options say what to read, what to write and what to serve.
type Options struct {
	// Inputs say what to read.
	Inputs Inputs
	// ConfigMap names the ConfigMap to keep.
	ConfigMap types.NamespacedName
	// Lease names the Lease that is held while writing. The zero value: none, for a single replica.
	Lease types.NamespacedName
	// InstallCRDs creates or updates the CRD before anything else.
	InstallCRDs bool
	// Inventory is what the leader applies at the start of its term; nil: nothing.
	Inventory *inventoryfile.Manifest
	// Metrics say how to serve metrics.
	Metrics Metrics
	// ProbeAddress is the address of /healthz and /readyz; "0" serves none.
	ProbeAddress string
}

// Inputs are what to read besides Nodes, and how.
type Inputs struct {
	// Recognition says what counts as a GPU.
	Recognition gpu.Options
	// Allocation reads Pods and, with DRA, ResourceClaims.
	Allocation bool
	// DRA reads what DRA drivers publish, when the API server serves it.
	DRA bool
}

// Metrics are what is served at /metrics.
type Metrics struct {
	// Address is where to listen; "0" serves none.
	Address string
	// Secure serves over TLS, to those whom the API server lets get /metrics. Otherwise everybody gets them in plain text.
	Secure bool
	// CertDir has tls.crt and tls.key; empty: a self-signed certificate.
	CertDir string
	// PerNodeLimit is the most GPU nodes that have series of their own; 0: none ever have.
	PerNodeLimit int
	// Namespaces exposes what each namespace holds. It needs Inputs.Allocation.
	Namespaces bool
}
