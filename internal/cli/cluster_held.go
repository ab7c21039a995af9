package cli

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

// scan adds all that an inventory is made from: Nodes, ResourceSlices where they are served, and with pods those who hold
// GPUs. What may not be read of DRA is a note.
func (c *cluster) scan(ctx context.Context, pods bool, notes io.Writer, into *fleet) error {
	steps := []func(context.Context, *fleet) (note string, err error){unnoted(c.nodes), c.published}
	if pods {
		steps = append(steps, unnoted(c.pods), c.claimed)
	}
	for _, step := range steps {
		note, err := step(ctx, into)
		if err != nil {
			return err
		}
		if note == "" {
			continue
		}
		if _, err := fmt.Fprintf(notes, "note: %s\n", printable(note)); err != nil {
			return fmt.Errorf("write a note: %w", err)
		}
	}
	return nil
}

// unnoted is a step that says nothing but whether it failed.
func unnoted(read func(context.Context, *fleet) error) func(context.Context, *fleet) (string, error) {
	return func(ctx context.Context, into *fleet) (string, error) { return "", read(ctx, into) }
}

// boundPods are the Pods that can hold anything.
const boundPods = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"

// pods adds what every Pod holds. Of a page only that is kept: there may be 100,000 Pods.
func (c *cluster) pods(ctx context.Context, into *fleet) error {
	client, err := c.client("/api", corev1.SchemeGroupVersion)
	if err != nil {
		return err
	}
	err = pages(metav1.ListOptions{FieldSelector: boundPods}, func(options *metav1.ListOptions) (next string, err error) {
		var list corev1.PodList
		if err := client.Get().Resource("pods").VersionedParams(options, metav1.ParameterCodec).Do(ctx).Into(&list); err != nil {
			return "", err
		}
		for i := range list.Items {
			into.addPod(&list.Items[i])
		}
		return list.Continue, nil
	}, func() { into.pods = nil })
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	into.known.Pods = true
	return nil
}

// claimVersions are the versions of ResourceClaim.
var claimVersions = []draVersion{
	{"v1", draPage(func(f *fleet, in *resourcev1.ResourceClaim) { f.addClaim(in) })},
	{"v1beta2", draPage(func(f *fleet, in *resourcev1beta2.ResourceClaim) { f.addClaim(new(holders.FromV1beta2(in))) })},
	{"v1beta1", draPage(func(f *fleet, in *resourcev1beta1.ResourceClaim) { f.addClaim(new(holders.FromV1beta1(in))) })},
}

// claimed adds what every ResourceClaim holds. The note says that they may not be listed.
func (c *cluster) claimed(ctx context.Context, into *fleet) (note string, err error) {
	err = c.listDRA(ctx, "resourceclaims", claimVersions, into, func() { into.claims = nil })
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("who holds devices of DRA drivers is not known: list resourceclaims: %v", err), nil
	case err != nil:
		return "", fmt.Errorf("list resourceclaims: %w", err)
	}
	into.known.Claims = true
	return "", nil
}
