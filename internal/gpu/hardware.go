package gpu

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
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
func HardwareOf(labels map[string]string) Hardware {
	found := map[string]string{}
	for key, value := range labels {
		if strings.HasPrefix(key, nfdDomain) || strings.HasPrefix(key, "intel."+nfdDomain) {
			found[key] = value
		}
	}
	node := &corev1.Node{}
	node.Labels = found
	if _, ok := Read(Input{Node: node}, Options{}); ok {
		return HardwareSeen
	}
	if len(found) > 0 {
		return HardwareAbsent
	}
	return HardwareUnknown
}
