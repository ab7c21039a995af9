package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// ControlPlane is a running kube-apiserver with its etcd. It has no controllers, no scheduler, and only the nodes that are
// created.
type ControlPlane struct {
	// Config is the administrator's config.
	Config *rest.Config
	// Client is an uncached client of the administrator.
	Client client.Client
	// Kubeconfig is a file with the administrator's credentials.
	Kubeconfig string

	env *envtest.Environment
	dir string
}

// StartControlPlane starts the programs in the folder KUBEBUILDER_ASSETS.
func StartControlPlane() (*ControlPlane, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, errors.New("KUBEBUILDER_ASSETS is not set: run this through make, which finds or builds the control plane")
	}
	dir, err := os.MkdirTemp("", "gpu-inventory-")
	if err != nil {
		return nil, fmt.Errorf("create folder: %w", err)
	}
	cp := &ControlPlane{env: &envtest.Environment{}, dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig")}
	if err := cp.start(); err != nil {
		return nil, errors.Join(err, cp.Stop())
	}
	return cp, nil
}

func (cp *ControlPlane) start() (err error) {
	if cp.Config, err = cp.env.Start(); err != nil {
		return fmt.Errorf("start control plane: %w", err)
	}
	if cp.Client, err = NewClient(cp.Config); err != nil {
		return err
	}
	if err := os.WriteFile(cp.Kubeconfig, cp.env.KubeConfig, 0o600); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

// Stop ends the control plane and removes its data.
func (cp *ControlPlane) Stop() error {
	return errors.Join(cp.env.Stop(), os.RemoveAll(cp.dir))
}

// Dir returns a folder that Stop removes.
func (cp *ControlPlane) Dir() string { return cp.dir }

// NewClient returns an uncached client for the core types and ours.
func NewClient(cfg *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	return c, nil
}
