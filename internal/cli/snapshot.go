package cli

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// defaultName is the name of the inventory over the whole cluster.
const defaultName = "cluster"

// snapshot is what a cluster says about its GPUs, as far as it has been read.
type snapshot struct {
	// options change what counts as a GPU, as the operator's do.
	options gpu.Options
	nodes   []*gpu.Facts
	slices  []resourcev1.ResourceSlice
	pods    []holders.Holding
	claims  []holders.Claim
	// complete says whether all pods and claims have been read.
	complete inventory.HoldersRead
	// notes say what could not be read.
	notes []string
}

// addNode keeps only what an inventory needs of a Node: the list of images alone can be larger.
func (s *snapshot) addNode(node *corev1.Node) {
	s.nodes = append(s.nodes, gpu.FactsOf(node, s.options, nil))
}

// addPod keeps what the Pod holds and reports whether it holds anything.
func (s *snapshot) addPod(pod *corev1.Pod) bool {
	h, ok := holders.OfPod(pod, s.options)
	if ok {
		s.pods = append(s.pods, h)
	}
	return ok
}

// addClaim keeps what the ResourceClaim holds and reports whether it holds anything.
func (s *snapshot) addClaim(claim *resourcev1.ResourceClaim) bool {
	c, ok := holders.OfClaim(claim, s.options)
	if ok {
		s.claims = append(s.claims, c)
	}
	return ok
}

// held adds up what pods and claims hold.
func (s *snapshot) held(devices map[string]*dra.Devices) holders.Held {
	tally := holders.NewTally(s.options)
	for node, d := range devices {
		tally.SetDevices(node, d)
	}
	for _, h := range s.pods {
		tally.Add(h)
	}
	for _, c := range s.claims {
		tally.AddClaim(c)
	}
	return tally.Held()
}

// read returns what one Node says, and false when it is not a GPU node.
func (s *snapshot) read(node *gpu.Facts, devices map[string]*dra.Devices) (gpu.Reading, bool) {
	return gpu.Read(node, devices[node.Name()], s.options)
}

// inventory returns the GpuInventory that the operator would keep, without what belongs to a write.
func (s *snapshot) inventory(note string) *v1.GpuInventory {
	devices := dra.DevicesByNode(s.slices)
	var rows []v1.GpuNode
	for _, node := range s.nodes {
		if reading, ok := s.read(node, devices); ok {
			rows = append(rows, reading.Row)
		}
	}
	return &v1.GpuInventory{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: defaultName},
		Spec:       v1.GpuInventorySpec{Note: note},
		Status:     inventory.Snapshot(inventory.WithAllocated(rows, s.held(devices), s.complete)),
	}
}
