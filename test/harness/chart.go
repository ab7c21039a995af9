package harness

import (
	"context"
	"fmt"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/release"
)

// Helm installs the chart of a folder, with the Helm SDK.
type Helm struct {
	// Kubeconfig is the file that says which cluster.
	Kubeconfig string
	// Chart is the chart's folder.
	Chart string
	// Release and Namespace are where to install it.
	Release, Namespace string
}

// Install installs the chart into an existing namespace. It does not wait for pods: no controller may be there to start
// them.
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
	installed, err := install.RunWithContext(ctx, chart, values)
	if tooEarly(err) {
		return h.Upgrade(ctx, values)
	}
	return installed, err
}

// tooEarly reports that Helm came to the GpuInventory before the API server served its CRD, which on a busy machine happens
// without --wait. What mends it is what the documentation tells to do: the command again.
func tooEarly(err error) bool {
	return err != nil && strings.Contains(err.Error(), `no matches for kind "GpuInventory"`)
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

// configuration is made anew for each call, as each run of the helm command does: it remembers what the cluster serves.
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
