package harness

import (
	"context"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// ReadNodes reads the Nodes in a file. Each document of it is a list, as kubectl prints it.
func ReadNodes(path string) ([]corev1.Node, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read nodes: %w", err)
	}
	var nodes []corev1.Node
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var list corev1.NodeList
		if err := yaml.Unmarshal([]byte(document), &list); err != nil {
			return nil, fmt.Errorf("decode %s: %w", path, err)
		}
		nodes = append(nodes, list.Items...)
	}
	return nodes, nil
}

// CreateNode creates a Node and then updates its status, which takes a second request.
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
