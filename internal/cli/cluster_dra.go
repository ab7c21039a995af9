package cli

import (
	"context"
	"encoding/json"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

// draResource is a resource of DRA, which a cluster serves in one version or another, or not at all.
type draResource struct {
	name string
	// unknown says what cannot be known without it.
	unknown string
	// versions has the newest first.
	versions []draVersion
	forget   func(*snapshot)
}

// draVersion reads one page of a list in one version.
type draVersion struct {
	version string
	read    func(page []byte, into *snapshot) (next string, err error)
}

var (
	resourceSlices = draResource{"resourceslices", "devices of DRA drivers are not known", []draVersion{
		{"v1", draPage(func(s *snapshot, in *resourcev1.ResourceSlice) { s.slices = append(s.slices, *in) })},
		{"v1beta2", draPage(func(s *snapshot, in *resourcev1beta2.ResourceSlice) { s.slices = append(s.slices, dra.FromV1beta2(in)) })},
		{"v1beta1", draPage(func(s *snapshot, in *resourcev1beta1.ResourceSlice) { s.slices = append(s.slices, dra.FromV1beta1(in)) })},
	}, func(s *snapshot) { s.slices = nil }}

	resourceClaims = draResource{"resourceclaims", "who holds devices of DRA drivers is not known", []draVersion{
		{"v1", draPage(func(s *snapshot, in *resourcev1.ResourceClaim) { s.addClaim(in) })},
		{"v1beta2", draPage(func(s *snapshot, in *resourcev1beta2.ResourceClaim) { s.addClaim(new(holders.FromV1beta2(in))) })},
		{"v1beta1", draPage(func(s *snapshot, in *resourcev1beta1.ResourceClaim) { s.addClaim(new(holders.FromV1beta1(in))) })},
	}, func(s *snapshot) { s.claims = nil }}
)

// draPage returns a function that reads a page whose items have the type T.
func draPage[T any](add func(*snapshot, *T)) func([]byte, *snapshot) (string, error) {
	return func(page []byte, into *snapshot) (string, error) {
		var list struct {
			metav1.ListMeta `json:"metadata"`
			Items           []T `json:"items"`
		}
		if err := json.Unmarshal(page, &list); err != nil {
			return "", err
		}
		for i := range list.Items {
			add(into, &list.Items[i])
		}
		return list.Continue, nil
	}
}

// listDRA adds every object of a resource to the snapshot, and reports whether it could. That it may not be listed is a note.
func (c *cluster) listDRA(ctx context.Context, resource draResource, into *snapshot) (bool, error) {
	err := c.newestServed(ctx, resource, into)
	switch {
	case apierrors.IsForbidden(err):
		into.notes = append(into.notes, fmt.Sprintf("%s: list %s: %v", resource.unknown, resource.name, err))
		return false, nil
	case err != nil:
		return false, fmt.Errorf("list %s: %w", resource.name, err)
	}
	return true, nil
}

// newestServed lists a resource in the newest version that is served. A cluster that serves none has no such objects.
func (c *cluster) newestServed(ctx context.Context, resource draResource, into *snapshot) error {
	for _, v := range resource.versions {
		client, err := c.client("/apis", schema.GroupVersion{Group: resourcev1.GroupName, Version: v.version})
		if err != nil {
			return err
		}
		err = pages(metav1.ListOptions{}, func(options *metav1.ListOptions) (next string, err error) {
			result := client.Get().Resource(resource.name).SetHeader("Accept", runtime.ContentTypeJSON).
				VersionedParams(options, metav1.ParameterCodec).Do(ctx)
			if err := result.Error(); err != nil { // unlike Raw, it has the server's own words
				return "", err
			}
			page, err := result.Raw()
			if err != nil {
				return "", err
			}
			return v.read(page, into)
		}, func() { resource.forget(into) })
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
