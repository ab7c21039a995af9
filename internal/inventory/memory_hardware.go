package inventory

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
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
func HardwareOf(labels map[string]string) Hardware {
	found := map[string]string{}
	for key, value := range labels {
		if strings.HasPrefix(key, nfdDomain) || strings.HasPrefix(key, "intel."+nfdDomain) {
			found[key] = value
		}
	}
	node := &corev1.Node{}
	node.Labels = found
	if _, ok := gpu.Read(gpu.Input{Node: node}, gpu.Options{}); ok {
		return HardwareSeen
	}
	if len(found) > 0 {
		return HardwareAbsent
	}
	return HardwareUnknown
}
