package watch

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/wire"
)

// coreClient lists and watches Nodes and Pods, cut down to what is read of them before they are decoded.
type coreClient struct{ rest.Interface }

func newCoreClient(cfg *rest.Config) (coreClient, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.APIPath, cfg.GroupVersion = "/api", &corev1.SchemeGroupVersion
	cfg.NegotiatedSerializer = wire.Codecs(scheme.Codecs.WithoutConversion())
	cfg.ContentType = runtime.ContentTypeProtobuf
	cfg.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	if cfg.UserAgent == "" {
		cfg.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	client, err := rest.RESTClientFor(cfg)
	if err != nil {
		return coreClient{}, fmt.Errorf("create client: %w", err)
	}
	return coreClient{client}, nil
}

func (c coreClient) list(ctx context.Context, resource string, o metav1.ListOptions, into runtime.Object) error {
	return c.Get().Resource(resource).VersionedParams(&o, scheme.ParameterCodec).Do(ctx).Into(into)
}

func (c coreClient) watch(ctx context.Context, resource string, o metav1.ListOptions) (watch.Interface, error) {
	o.Watch = true
	return c.Get().Resource(resource).VersionedParams(&o, scheme.ParameterCodec).Watch(ctx)
}
