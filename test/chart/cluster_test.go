package chart

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"helm.sh/helm/v3/pkg/action"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/cli"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/charts"
	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

const timeout = time.Minute

var (
	started      *harness.ControlPlane
	controlPlane = sync.OnceValues(startControlPlane)
	folders      []string     // to remove at the end
	namespaces   atomic.Int32 // handed out: no controller is there to empty one for another test
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code := m.Run()
	if started != nil {
		if err := started.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	for _, folder := range folders {
		if err := os.RemoveAll(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func startControlPlane() (*harness.ControlPlane, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, fmt.Errorf("no API server to install the chart on: KUBEBUILDER_ASSETS is not set; run make test-chart")
	}
	cp, err := harness.StartControlPlane()
	if err != nil {
		return nil, err
	}
	started = cp
	return cp, os.Setenv("KUBECACHEDIR", filepath.Join(cp.Dir(), "discovery"))
}

// cluster is the API server as one test sees it: without a CRD at first, and with a namespace and a release of its own.
type cluster struct {
	client.Client
	controlPlane *harness.ControlPlane
	namespace    string
	chart        *helmchart.Chart
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	cp, err := controlPlane()
	if err != nil {
		t.Fatal(err)
	}
	k8s, err := client.New(cp.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{Client: k8s, controlPlane: cp, chart: loadChart(t)}
	c.namespace = fmt.Sprintf("test-%d", namespaces.Add(1))
	if err := harness.EnsureNamespace(t.Context(), k8s, c.namespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.clean(t) })
	return c
}

// clean leaves nothing for the next test: neither a release, whose cluster roles would be in its way, nor the CRD.
func (c *cluster) clean(t *testing.T) {
	t.Helper()
	uninstall := action.NewUninstall(c.helm(t))
	uninstall.IgnoreNotFound, uninstall.Timeout = true, timeout
	if _, err := uninstall.Run(releaseName); err != nil {
		t.Errorf("uninstall: %v", err)
	}
	c.deleteCRD(t)
}

// helm is configured anew for each command, as the helm program is: it remembers what the cluster serves.
func (c *cluster) helm(t *testing.T) *action.Configuration {
	t.Helper()
	settings := cli.New()
	settings.KubeConfig = c.controlPlane.Kubeconfig
	settings.SetNamespace(c.namespace)
	cfg := new(action.Configuration)
	if err := cfg.Init(settings.RESTClientGetter(), c.namespace, "secret", t.Logf); err != nil {
		t.Fatal(err)
	}
	return cfg
}

func (c *cluster) tryInstall(t *testing.T, values map[string]any, options ...func(*action.Install)) error {
	t.Helper()
	install := action.NewInstall(c.helm(t))
	install.ReleaseName, install.Namespace, install.Timeout = releaseName, c.namespace, timeout
	for _, option := range options {
		option(install)
	}
	_, err := install.RunWithContext(t.Context(), c.chart, values)
	return err
}

func (c *cluster) install(t *testing.T, values map[string]any, options ...func(*action.Install)) {
	t.Helper()
	if err := c.tryInstall(t, values, options...); err != nil {
		t.Fatalf("install: %v", err)
	}
}

func (c *cluster) tryUpgrade(t *testing.T, values map[string]any, options ...func(*action.Upgrade)) error {
	t.Helper()
	upgrade := action.NewUpgrade(c.helm(t))
	upgrade.Namespace, upgrade.Timeout = c.namespace, timeout
	for _, option := range options {
		option(upgrade)
	}
	_, err := upgrade.RunWithContext(t.Context(), releaseName, c.chart, values)
	return err
}

func (c *cluster) upgrade(t *testing.T, values map[string]any, options ...func(*action.Upgrade)) {
	t.Helper()
	if err := c.tryUpgrade(t, values, options...); err != nil {
		t.Fatalf("upgrade: %v", err)
	}
}

func (c *cluster) uninstall(t *testing.T) {
	t.Helper()
	uninstall := action.NewUninstall(c.helm(t))
	uninstall.Timeout = timeout
	if _, err := uninstall.Run(releaseName); err != nil {
		t.Fatalf("uninstall: %v", err)
	}
}

// inventory reads the GpuInventory cluster.
func (c *cluster) inventory(t *testing.T) *v1.GpuInventory {
	t.Helper()
	var inventory v1.GpuInventory
	if err := c.Get(t.Context(), client.ObjectKey{Name: "cluster"}, &inventory); err != nil {
		t.Fatalf("get gpuinventory: %v", err)
	}
	return &inventory
}

// patch merges a part of the GpuInventory cluster into it.
func (c *cluster) patch(t *testing.T, part map[string]any) {
	t.Helper()
	content, err := json.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Patch(t.Context(), c.inventory(t), client.RawPatch(types.MergePatchType, content)); err != nil {
		t.Fatalf("patch gpuinventory: %v", err)
	}
}

func (c *cluster) crd(t *testing.T) (*apiextensionsv1.CustomResourceDefinition, error) {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	return &crd, c.Get(t.Context(), client.ObjectKey{Name: "gpuinventories.homelab.youngju.dev"}, &crd)
}

// applyCRD brings the CRD as other means than the chart would.
func (c *cluster) applyCRD(t *testing.T) {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(charts.CRD, &crd); err != nil {
		t.Fatal(err)
	}
	if _, err := envtest.InstallCRDs(c.controlPlane.Config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{&crd}}); err != nil {
		t.Fatal(err)
	}
}

// deleteCRD returns when the API server no longer serves the API.
func (c *cluster) deleteCRD(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // also called when the test has ended
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "gpuinventories.homelab.youngju.dev"
	if err := c.Delete(ctx, crd); client.IgnoreNotFound(err) != nil {
		t.Fatalf("delete CRD: %v", err)
	}
	c.waitForAPIGone(ctx, t)
}

func (c *cluster) waitForAPIGone(ctx context.Context, t *testing.T) {
	t.Helper()
	d, err := discovery.NewDiscoveryClientForConfig(c.controlPlane.Config)
	if err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
		_, resources, err := d.ServerGroupsAndResources()
		if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
			return false, err
		}
		for _, list := range resources {
			if list.GroupVersion == v1.GroupVersion.String() {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatalf("wait for the API to go: %v", err)
	}
}

// assertGone fails unless the object is not there.
func (c *cluster) assertGone(t *testing.T, object client.Object, name string) {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name}, object)
	if !apierrors.IsNotFound(err) {
		t.Errorf("get %T %s: %v, want that it is not found", object, name, err)
	}
}
