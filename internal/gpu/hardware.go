package gpu

import (
	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
)

// Hardware is what node feature discovery says about GPUs on a Node's bus.
type Hardware int

// What node feature discovery says.
const (
	// HardwareUnknown says that it does not run on the Node, or that its labels have gone.
	HardwareUnknown Hardware = iota
	// HardwareSeen says that one of its labels names a GPU.
	HardwareSeen
	// HardwareAbsent says that its labels are on the Node and none of them names a GPU.
	HardwareAbsent
)

const nfdDomain = "feature.node.kubernetes.io/"

// HardwareOf reads a Node's labels. A missing label of node feature discovery means something only while others of its
// labels show that it runs.
func HardwareOf(labels *labelset.Set) Hardware {
	if onBus(labels) {
		return HardwareSeen
	}
	for _, prefix := range []string{nfdDomain, "intel." + nfdDomain} {
		for range labels.Prefix(prefix) {
			return HardwareAbsent
		}
	}
	return HardwareUnknown
}
