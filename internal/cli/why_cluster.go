package cli

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// nodeWithSlices adds one Node to the snapshot, and all ResourceSlices: only all of them show whether a pool is complete. When
// there is no Node of that name it adds every Node instead, so that an error can name the nearest.
func (c *cluster) nodeWithSlices(ctx context.Context, name string, into *snapshot) error {
	found, err := c.node(ctx, name, into)
	switch {
	case err != nil:
		return failure{err}
	case found:
		if _, err := c.listDRA(ctx, resourceSlices, into); err != nil {
			return failure{err}
		}
		return nil
	}
	switch err := c.nodes(ctx, into); {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("there is no Node %q; others cannot be named: %w", name, err)
	case err != nil:
		return failure{err}
	}
	return nil
}

// node adds one Node to the snapshot and reports whether there is one of that name.
func (c *cluster) node(ctx context.Context, name string, into *snapshot) (bool, error) {
	if len(rest.IsValidPathSegmentName(name)) > 0 {
		return false, nil
	}
	client, err := c.client("/api", corev1.SchemeGroupVersion)
	if err != nil {
		return false, err
	}
	node := new(corev1.Node)
	err = client.Get().Resource("nodes").Name(name).Do(ctx).Into(node)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("get node %s: %w", name, err)
	}
	into.addNode(node)
	return true, nil
}
