package cli

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// scan adds everything that an inventory is made from: Nodes, ResourceSlices, and with pods also what holds GPUs.
func (c *cluster) scan(ctx context.Context, pods bool, into *snapshot) error {
	if err := c.nodes(ctx, into); err != nil {
		return err
	}
	if _, err := c.listDRA(ctx, resourceSlices, into); err != nil || !pods {
		return err
	}
	if err := c.pods(ctx, into); err != nil {
		return err
	}
	var err error
	into.complete.Claims, err = c.listDRA(ctx, resourceClaims, into)
	return err
}

// boundPods selects the Pods that can hold anything.
const boundPods = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"

// pods adds what every Pod holds. The rest of a Pod is dropped with its page: there may be 100,000 Pods.
func (c *cluster) pods(ctx context.Context, into *snapshot) error {
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
	into.complete.Pods = true
	return nil
}
