package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc" // kubeconfig files may name it as kubectl's own
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// pageSize is how many objects one request asks for, as kubectl does.
const pageSize = 500

// cluster is the API server to read from, from the kubeconfig that kubectl uses.
type cluster struct {
	kubeconfig, context string
	extraResources      []string
}

func (c *cluster) register(flags *pflag.FlagSet) {
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "`FILE` to use instead of $KUBECONFIG or ~/.kube/config")
	flags.StringVar(&c.context, "context", "", "`NAME` of the kubeconfig context to use")
	flags.StringSliceVar(&c.extraResources, "extra-gpu-resources", nil, "further resource `NAMES` that count as GPUs, as the operator's flag of that name says")
}

func (c *cluster) emptySnapshot() *snapshot {
	return &snapshot{options: gpu.Options{ExtraResources: c.extraResources}}
}

func (c *cluster) inventory(ctx context.Context, name string) (*v1.GpuInventory, error) {
	client, err := c.client("/apis", v1.GroupVersion)
	if err != nil {
		return nil, err
	}
	var inv v1.GpuInventory
	err = client.Get().Resource(v1.Resource).Name(name).Do(ctx).Into(&inv)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("get gpuinventory %s: %w; is the operator installed? \"kubectl gpuinv scan\" does without", name, err)
	case err != nil:
		return nil, fmt.Errorf("get gpuinventory %s: %w", name, err)
	}
	inv.APIVersion, inv.Kind = v1.GroupVersion.String(), v1.Kind
	inv.ManagedFields = nil
	return &inv, nil
}

// nodes adds every Node to the snapshot.
func (c *cluster) nodes(ctx context.Context, into *snapshot) error {
	client, err := c.client("/api", corev1.SchemeGroupVersion)
	if err != nil {
		return err
	}
	err = pages(metav1.ListOptions{}, func(options *metav1.ListOptions) (next string, err error) {
		var list corev1.NodeList
		if err := client.Get().Resource("nodes").VersionedParams(options, metav1.ParameterCodec).Do(ctx).Into(&list); err != nil {
			return "", err
		}
		for i := range list.Items {
			into.addNode(&list.Items[i])
		}
		return list.Continue, nil
	}, func() { into.nodes = nil })
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	return nil
}

// pages reads a list page by page. When the next page has expired, it calls forget and reads the whole list at once.
func pages(options metav1.ListOptions, read func(*metav1.ListOptions) (next string, err error), forget func()) error {
	options.Limit = pageSize
	for {
		next, err := read(&options)
		if apierrors.IsResourceExpired(err) && options.Continue != "" {
			options.Limit, options.Continue = 0, ""
			forget()
			continue
		}
		if err != nil {
			return err
		}
		if options.Continue = next; next == "" {
			return nil
		}
	}
}

// client returns a client for one group and version of the API. It knows only the types that the plugin reads: a full
// clientset would be the larger part of the binary.
func (c *cluster) client(path string, gv schema.GroupVersion) (rest.Interface, error) {
	config, err := c.config()
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), v1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("register API types: %w", err)
	}
	config.GroupVersion = &gv
	config.APIPath = path
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	if gv == corev1.SchemeGroupVersion { // custom resources are served only as JSON
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return client, nil
}

// config returns how to reach the cluster, which is chosen as kubectl chooses it.
func (c *cluster) config() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: c.context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, errors.New("no cluster to read from: no kubeconfig found; \"kubectl gpuinv scan -f FILE\" reads files")
	case err != nil:
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.UserAgent = "kubectl-gpuinv"
	return config, nil
}
