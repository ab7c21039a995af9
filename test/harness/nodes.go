package harness

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// ReadNodes reads a list of Nodes as kubectl prints it.
func ReadNodes(path string) ([]corev1.Node, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read nodes: %w", err)
	}
	var list corev1.NodeList
	if err := yaml.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("decode %s: %w", path, err)
	}
	return list.Items, nil
}

// CreateNode creates a Node with its status, which the API server takes in a request of its own.
func CreateNode(ctx context.Context, c client.Client, node *corev1.Node) error {
	status := node.Status.DeepCopy()
	node.ResourceVersion, node.UID = "", ""
	if err := c.Create(ctx, node); err != nil {
		return fmt.Errorf("create node %s: %w", node.Name, err)
	}
	node.Status = *status
	if err := c.Status().Update(ctx, node); err != nil {
		return fmt.Errorf("update status of node %s: %w", node.Name, err)
	}
	return nil
}
