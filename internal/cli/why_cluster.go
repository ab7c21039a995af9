package cli

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
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

// slicePages read one page of a list of ResourceSlices, by the version that the server gave it in. The newest comes first.
var slicePages = []struct {
	version string
	read    func([]byte, *fleet) (next string, err error)
}{
	{"v1", slicePage(func(in *resourcev1.ResourceSlice) resourcev1.ResourceSlice { return *in })},
	{"v1beta2", slicePage(func(in *resourcev1beta2.ResourceSlice) resourcev1.ResourceSlice { return gpu.FromV1beta2(in) })},
	{"v1beta1", slicePage(func(in *resourcev1beta1.ResourceSlice) resourcev1.ResourceSlice { return gpu.FromV1beta1(in) })},
}

func slicePage[T any](convert func(*T) resourcev1.ResourceSlice) func([]byte, *fleet) (string, error) {
	return func(body []byte, into *fleet) (string, error) {
		var list struct {
			metav1.ListMeta `json:"metadata"`
			Items           []T `json:"items"`
		}
		if err := json.Unmarshal(body, &list); err != nil {
			return "", err
		}
		for i := range list.Items {
			into.slices = append(into.slices, convert(&list.Items[i]))
		}
		return list.Continue, nil
	}
}

// published adds the ResourceSlices of the cluster to the fleet, in the newest version that is served. A server that has none
// publishes none. The note says that they may not be listed.
func (c *cluster) published(ctx context.Context, into *fleet) (note string, err error) {
	for _, v := range slicePages {
		client, err := c.client("/apis", schema.GroupVersion{Group: resourcev1.GroupName, Version: v.version})
		if err != nil {
			return "", err
		}
		err = listSlices(ctx, client, v.read, into)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case apierrors.IsForbidden(err):
			return fmt.Sprintf("devices of DRA drivers are not known: list resourceslices: %v", err), nil
		case err != nil:
			return "", fmt.Errorf("list resourceslices: %w", err)
		}
		return "", nil
	}
	return "", nil
}

// listSlices adds every page of a list. When the next page is gone it starts again and asks for one piece.
func listSlices(ctx context.Context, client rest.Interface, read func([]byte, *fleet) (string, error), into *fleet) error {
	options := metav1.ListOptions{Limit: pageSize}
	for {
		result := client.Get().Resource("resourceslices").SetHeader("Accept", runtime.ContentTypeJSON).
			VersionedParams(&options, metav1.ParameterCodec).Do(ctx)
		err := result.Error() // unlike Raw, it has the server's own words
		if apierrors.IsResourceExpired(err) && options.Continue != "" {
			options = metav1.ListOptions{}
			into.slices = nil
			continue
		}
		if err != nil {
			return err
		}
		body, err := result.Raw()
		if err != nil {
			return err
		}
		if options.Continue, err = read(body, into); err != nil || options.Continue == "" {
			return err
		}
	}
}
