package cli

import (
	"context"
	"encoding/json"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// draVersion reads one page of a list of a DRA kind, in one version.
type draVersion struct {
	version string
	read    func(page []byte, into *fleet) (next string, err error)
}

// draPage reads a page whose items are Ts.
func draPage[T any](add func(*fleet, *T)) func([]byte, *fleet) (string, error) {
	return func(page []byte, into *fleet) (string, error) {
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

// listDRA adds every object of a DRA resource to the fleet, in the newest version that is served, of which versions has the
// newest first. A server that serves none has none.
func (c *cluster) listDRA(ctx context.Context, resource string, versions []draVersion, into *fleet, forget func()) error {
	for _, v := range versions {
		client, err := c.client("/apis", schema.GroupVersion{Group: resourcev1.GroupName, Version: v.version})
		if err != nil {
			return err
		}
		err = pages(metav1.ListOptions{}, func(options *metav1.ListOptions) (next string, err error) {
			result := client.Get().Resource(resource).SetHeader("Accept", runtime.ContentTypeJSON).
				VersionedParams(options, metav1.ParameterCodec).Do(ctx)
			if err := result.Error(); err != nil { // unlike Raw, it has the server's own words
				return "", err
			}
			page, err := result.Raw()
			if err != nil {
				return "", err
			}
			return v.read(page, into)
		}, forget)
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}
