package source

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// Nodes reads GPU nodes from a cache of Nodes.
type Nodes struct {
	// Reader is the manager's cached client.
	Reader client.Reader
	// Options change what counts as a GPU.
	Options gpu.Options
}

// Rows has one row for each selected Node with GPUs, in no particular order.
func (n Nodes) Rows(ctx context.Context, selector labels.Selector) ([]v1.GpuNode, error) {
	var nodes corev1.NodeList
	// Nothing below changes a Node, so the cache's own objects will do: 5,000 copies for each change would cost more than
	// all the rest.
	if err := n.Reader.List(ctx, &nodes, client.MatchingLabelsSelector{Selector: selector}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	var rows []v1.GpuNode
	for i := range nodes.Items {
		if r, ok := gpu.Read(gpu.Input{Node: &nodes.Items[i]}, n.Options); ok {
			rows = append(rows, r.Row)
		}
	}
	return rows, nil
}

// IsGPU reports whether a Node shows any evidence of GPUs.
func (n Nodes) IsGPU(node *corev1.Node) bool {
	_, ok := gpu.Read(gpu.Input{Node: node}, n.Options)
	return ok
}
