package cli

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// explained adds one Node to the fleet and all ResourceSlices, since only all of them tell whether a pool is complete. When
// there is no Node of that name it adds every Node instead, so that the nearest names can be told. The note says what could
// not be read; empty: nothing.
func (c *cluster) explained(ctx context.Context, name string, into *fleet) (note string, err error) {
	found, err := c.node(ctx, name, into)
	if err != nil {
		return "", failure{err}
	}
	if !found {
		switch err := c.nodes(ctx, into); {
		case apierrors.IsForbidden(err):
			return "", fmt.Errorf("there is no Node %q; others cannot be named: %w", name, err)
		case err != nil:
			return "", failure{err}
		}
		return "", nil
	}
	if note, err = c.published(ctx, into); err != nil {
		return "", failure{err}
	}
	return note, nil
}

// node adds one Node to the fleet. It returns false when there is none.
func (c *cluster) node(ctx context.Context, name string, into *fleet) (bool, error) {
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

// sliceVersions are the versions of ResourceSlice.
var sliceVersions = []draVersion{
	{"v1", draPage(func(f *fleet, in *resourcev1.ResourceSlice) { f.slices = append(f.slices, *in) })},
	{"v1beta2", draPage(func(f *fleet, in *resourcev1beta2.ResourceSlice) { f.slices = append(f.slices, dra.FromV1beta2(in)) })},
	{"v1beta1", draPage(func(f *fleet, in *resourcev1beta1.ResourceSlice) { f.slices = append(f.slices, dra.FromV1beta1(in)) })},
}

// published adds the ResourceSlices of the cluster to the fleet. The note says that they may not be listed.
func (c *cluster) published(ctx context.Context, into *fleet) (note string, err error) {
	err = c.listDRA(ctx, "resourceslices", sliceVersions, into, func() { into.slices = nil })
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("devices of DRA drivers are not known: list resourceslices: %v", err), nil
	case err != nil:
		return "", fmt.Errorf("list resourceslices: %w", err)
	}
	return "", nil
}
