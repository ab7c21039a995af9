package inventory

import (
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
)

// Hardware is what node feature discovery says of the GPUs on a Node's bus.
type Hardware int

// What node feature discovery says.
const (
	// HardwareUnknown: it does not run on the Node, or its labels have gone with everything else.
	HardwareUnknown Hardware = iota
	// HardwareSeen: one of its labels names a GPU.
	HardwareSeen
	// HardwareAbsent: its labels are on the Node, and none of them names a GPU.
	HardwareAbsent
)

const nfdDomain = "feature.node.kubernetes.io/"

// HardwareOf reads a Node's labels. That labels of node feature discovery are there shows that it is alive: only then do the
// missing ones mean something.
func HardwareOf(labels *labelset.Set) Hardware {
	if gpu.OnBus(labels) {
		return HardwareSeen
	}
	for _, prefix := range []string{nfdDomain, "intel." + nfdDomain} {
		for range labels.Prefix(prefix) {
			return HardwareAbsent
		}
	}
	return HardwareUnknown
}
