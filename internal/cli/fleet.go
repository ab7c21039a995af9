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

// fleet is what a cluster says about its GPUs, as far as it has been read.
type fleet struct {
	// options change what counts as a GPU, as the operator's do.
	options gpu.Options
	nodes   []*gpu.Facts
	slices  []resourcev1.ResourceSlice
	pods    []holders.Holding
	claims  []holders.Claim
	// known says whether all pods and claims have been read.
	known inventory.HoldersRead
}

// addNode keeps what an inventory needs of the Node: a Node's list of images alone can be larger.
func (f *fleet) addNode(node *corev1.Node) {
	f.nodes = append(f.nodes, gpu.FactsOf(node, f.options, nil))
}

// addPod keeps what the Pod holds. It reports whether that is anything.
func (f *fleet) addPod(pod *corev1.Pod) bool {
	h, ok := holders.OfPod(pod, f.options)
	if ok {
		f.pods = append(f.pods, h)
	}
	return ok
}

// addClaim keeps what the ResourceClaim holds. It reports whether that is anything.
func (f *fleet) addClaim(claim *resourcev1.ResourceClaim) bool {
	c, ok := holders.OfClaim(claim, f.options)
	if ok {
		f.claims = append(f.claims, c)
	}
	return ok
}

// held adds up what pods and claims hold.
func (f *fleet) held(devices map[string]*dra.Devices) holders.Held {
	tally := holders.NewTally(f.options)
	for node, d := range devices {
		tally.SetDevices(node, d)
	}
	for _, h := range f.pods {
		tally.Add(h)
	}
	for _, c := range f.claims {
		tally.AddClaim(c)
	}
	return tally.Held()
}

// inventory is the GpuInventory that the operator would keep for this fleet, without what belongs to a write.
func (f *fleet) inventory(note string) *v1.GpuInventory {
	devices := dra.DevicesByNode(f.slices)
	var rows []v1.GpuNode
	for _, node := range f.nodes {
		if reading, ok := gpu.Read(node, devices[node.Name()], f.options); ok {
			rows = append(rows, reading.Row)
		}
	}
	return &v1.GpuInventory{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: defaultName},
		Spec:       v1.GpuInventorySpec{Note: note},
		Status:     inventory.Snapshot(inventory.WithAllocated(rows, f.held(devices), f.known)),
	}
}
