package chart

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

func TestAccountOfHelmTestMay(t *testing.T) {
	c := newCluster(t)
	c.install(t, nil)
	var account string
	for _, object := range renderTest(t, set("namespaceOverride", c.namespace)) {
		if _, ok := object.(*corev1.Pod); ok {
			continue // no kubelet is here to run it
		}
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		account = object.GetName()
		t.Cleanup(func() {
			if err := c.Delete(context.WithoutCancel(t.Context()), object); err != nil {
				t.Error(err)
			}
		})
	}
	if err := applyInventory("cluster", "")(t.Context(), c.admin(t)); err != nil {
		t.Fatal(err)
	}
	k8s := c.as(t, account)
	for name, allowed := range map[string]request{
		"read the inventory": get(&v1.GpuInventory{}, "", "cluster"),
		"get /metrics":       c.scrape(t, account),
	} {
		t.Run(name, func(t *testing.T) { assertAllowed(t, k8s, allowed) })
	}
	for name, forbidden := range map[string]request{
		"list inventories":      list(&v1.GpuInventoryList{}),
		"read another one":      get(&v1.GpuInventory{}, "", "other"),
		"change the inventory":  applyInventory("cluster", ""),
		"list nodes":            list(&corev1.NodeList{}),
		"read the ConfigMap":    get(&corev1.ConfigMap{}, c.namespace, "gpu-node-status"),
		"list pods":             list(&corev1.PodList{}, client.InNamespace(c.namespace)),
		"list secrets":          list(&corev1.SecretList{}, client.InNamespace(c.namespace)),
		"review anybody's else": reviewAccess,
	} {
		t.Run("not "+name, func(t *testing.T) { assertForbidden(t, k8s, forbidden) })
	}
}

func TestReadersOfTheValuesMayScrapeAndOthersMayNot(t *testing.T) {
	c := newCluster(t)
	c.install(t, set("metrics.readers", []any{map[string]any{"name": "prometheus", "namespace": c.namespace}}))
	for _, name := range []string{"prometheus", "other"} {
		if err := c.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	assertAllowed(t, c.as(t, "prometheus"), c.scrape(t, "prometheus"))
	assertForbidden(t, c.as(t, "other"), c.scrape(t, "other"))
	// What the operator asks about them is something else than to scrape.
	assertForbidden(t, c.as(t, releaseName), c.scrape(t, releaseName))
}

// scrape asks the API server's own /metrics, which is the same right as the operator's.
func (c *cluster) scrape(t *testing.T, account string) request {
	t.Helper()
	cfg, err := harness.ServiceAccountConfig(t.Context(), c.controlPlane.Config, c.namespace, account)
	if err != nil {
		t.Fatal(err)
	}
	k8s, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, _ client.WithWatch) error {
		return k8s.RESTClient().Get().AbsPath("/metrics").Do(ctx).Error()
	}
}
