package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/charts"
	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

// cluster is a control plane and the clients that take the part of its kubelets.
type cluster struct {
	config     *rest.Config
	kubeconfig string
	dir        string
	core       kubernetes.Interface // uses protobuf
	client     client.Client        // for GpuInventories

	env *envtest.Environment
}

// startCluster starts kube-apiserver and etcd with limits that are high enough for the load. envtest runs etcd without fsync,
// so all writes, both of the operator and of the floor, are faster than on a real disk.
func startCluster() (*cluster, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, errors.New("KUBEBUILDER_ASSETS is not set: run this through make bench, which finds or builds the control plane")
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(charts.CRD, &crd); err != nil {
		return nil, fmt.Errorf("decode CRD: %w", err)
	}
	dir, err := os.MkdirTemp("", "gpu-inventory-scale-")
	if err != nil {
		return nil, fmt.Errorf("create folder: %w", err)
	}
	c := &cluster{dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig"), env: &envtest.Environment{
		CRDs: []*apiextensionsv1.CustomResourceDefinition{&crd},
	}}
	c.env.ControlPlane.GetAPIServer().Configure().
		Set("max-requests-inflight", "1000").Set("max-mutating-requests-inflight", "500").Set("profiling", "false")
	c.env.ControlPlane.Etcd = &envtest.Etcd{}
	c.env.ControlPlane.Etcd.Configure().Set("quota-backend-bytes", "8589934592")
	if err := c.start(); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

func (c *cluster) start() (err error) {
	if c.config, err = c.env.Start(); err != nil {
		return fmt.Errorf("start control plane: %w", err)
	}
	if err := os.WriteFile(c.kubeconfig, c.env.KubeConfig, 0o600); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	c.config.QPS = -1
	if c.client, err = harness.NewClient(c.config); err != nil {
		return err
	}
	protobuf := rest.CopyConfig(c.config)
	protobuf.ContentType = runtime.ContentTypeProtobuf
	if c.core, err = kubernetes.NewForConfig(protobuf); err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	return nil
}

func (c *cluster) stop() error { return errors.Join(c.env.Stop(), os.RemoveAll(c.dir)) }

// freshInventory replaces a GpuInventory with one that has no status.
func (c *cluster) freshInventory(ctx context.Context, name string) error {
	inv := &v1.GpuInventory{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.client.Delete(ctx, inv); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete gpuinventory %s: %w", name, err)
	}
	inv.ResourceVersion = ""
	if err := c.client.Create(ctx, inv); err != nil {
		return fmt.Errorf("create gpuinventory %s: %w", name, err)
	}
	return nil
}
