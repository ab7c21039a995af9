package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Helm installs a chart from a folder, with the Helm SDK.
type Helm struct {
	// Kubeconfig is the kubeconfig file of the cluster.
	Kubeconfig string
	// Chart is the chart's folder.
	Chart string
	// Release is the name of the release, and Namespace is where to install it.
	Release, Namespace string
}

// Install installs the chart into an existing namespace. It does not wait for pods, because the cluster may have no controller
// that starts them.
func (h Helm) Install(ctx context.Context, values map[string]any) (*release.Release, error) {
	cfg, err := h.configuration()
	if err != nil {
		return nil, err
	}
	chart, err := loader.Load(h.Chart)
	if err != nil {
		return nil, fmt.Errorf("load chart %s: %w", h.Chart, err)
	}
	install := action.NewInstall(cfg)
	install.ReleaseName, install.Namespace, install.Timeout = h.Release, h.Namespace, time.Minute
	return install.RunWithContext(ctx, chart, values)
}

// Upgrade upgrades the release to the chart as it is now.
func (h Helm) Upgrade(ctx context.Context, values map[string]any) (*release.Release, error) {
	cfg, err := h.configuration()
	if err != nil {
		return nil, err
	}
	chart, err := loader.Load(h.Chart)
	if err != nil {
		return nil, fmt.Errorf("load chart %s: %w", h.Chart, err)
	}
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.Timeout = h.Namespace, time.Minute
	return upgrade.RunWithContext(ctx, h.Release, chart, values)
}

// Uninstall removes the release.
func (h Helm) Uninstall() error {
	cfg, err := h.configuration()
	if err != nil {
		return err
	}
	uninstall := action.NewUninstall(cfg)
	uninstall.Timeout = time.Minute
	_, err = uninstall.Run(h.Release)
	return err
}

// configuration returns a new configuration for each call, as for each run of the helm command, because it caches what the
// cluster serves.
func (h Helm) configuration() (*action.Configuration, error) {
	settings := cli.New()
	settings.KubeConfig = h.Kubeconfig
	settings.SetNamespace(h.Namespace)
	cfg := new(action.Configuration)
	if err := cfg.Init(settings.RESTClientGetter(), h.Namespace, "secret", func(string, ...any) {}); err != nil {
		return nil, fmt.Errorf("prepare helm: %w", err)
	}
	return cfg, nil
}

// InventoryArgs writes the GpuInventory that a release describes into a file in dir, as the kubelet does for a manager in a
// pod. It returns the flag that names the file, or no flag if the release does not describe a GpuInventory.
func InventoryArgs(ctx context.Context, c client.Client, deployment *appsv1.Deployment, dir string) ([]string, error) {
	const flag = "--inventory-file="
	pod := deployment.Spec.Template.Spec
	for _, arg := range pod.Containers[0].Args {
		path, ok := strings.CutPrefix(arg, flag)
		if !ok {
			continue
		}
		name, err := mountedConfigMap(pod, filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		var cm corev1.ConfigMap
		if err := c.Get(ctx, client.ObjectKey{Namespace: deployment.Namespace, Name: name}, &cm); err != nil {
			return nil, fmt.Errorf("get configmap: %w", err)
		}
		file := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(file, []byte(cm.Data[filepath.Base(path)]), 0o600); err != nil {
			return nil, fmt.Errorf("write inventory: %w", err)
		}
		return []string{flag + file}, nil
	}
	return nil, nil
}

// mountedConfigMap returns the name of the ConfigMap that the first container has at a path.
func mountedConfigMap(pod corev1.PodSpec, path string) (string, error) {
	for _, mount := range pod.Containers[0].VolumeMounts {
		for _, volume := range pod.Volumes {
			if mount.MountPath == path && mount.Name == volume.Name && volume.ConfigMap != nil {
				return volume.ConfigMap.Name, nil
			}
		}
	}
	return "", fmt.Errorf("no ConfigMap is mounted at %s", path)
}
