package release

// These names are in the script, the chart and the docs; tests compare them.
const (
	publicRegistry = "ghcr.io/gpu-inventory"
	imageName      = "gpu-inventory-operator"
	chartName      = "gpu-inventory-operator"
	chartFolder    = "charts/gpu-inventory-operator"
	sourceURL      = "https://github.com/gpu-inventory/gpu-inventory-operator"
	oidcIssuer     = "https://token.actions.githubusercontent.com"
)
