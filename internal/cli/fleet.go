package cli

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// defaultName is the name of the inventory over the whole cluster.
const defaultName = "cluster"

// fleet is what a cluster says about its GPUs, as far as it has been read.
type fleet struct {
	nodes  []*corev1.Node
	slices []resourcev1.ResourceSlice
}

// addNode takes the Node over and keeps what an inventory needs: a Node's list of images alone can be larger.
func (f *fleet) addNode(node *corev1.Node) {
	gpu.Reduce(node, gpu.Options{})
	f.nodes = append(f.nodes, node)
}

// inventory is the GpuInventory that the operator would keep for this fleet, without what belongs to a write.
func (f *fleet) inventory(note string) *v1.GpuInventory {
	devices := gpu.DevicesByNode(f.slices)
	var rows []v1.GpuNode
	for _, node := range f.nodes {
		if reading, ok := gpu.Read(gpu.Input{Node: node, Devices: devices[node.Name]}, gpu.Options{}); ok {
			rows = append(rows, reading.Row)
		}
	}
	return &v1.GpuInventory{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: defaultName},
		Spec:       v1.GpuInventorySpec{Note: note},
		Status:     inventory.Snapshot(rows),
	}
}
