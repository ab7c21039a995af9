package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/cli"
	helmrelease "helm.sh/helm/v3/pkg/release"

	"github.com/gpu-inventory/gpu-inventory-operator/test/e2e/settings"
)

const helmTimeout = 2 * time.Minute

// release is the chart on the cluster, by what the helm program does for each of its commands.
type release struct{ settings settings.Settings }

// firstValues are those of the install: what the chart needs to run an image that only this cluster has, and a note to
// see in the object.
func firstValues() map[string]any {
	return map[string]any{
		"image":     map[string]any{"repository": helm.settings.Repository, "tag": helm.settings.Tag, "pullPolicy": "IfNotPresent"},
		"inventory": map[string]any{"note": "as installed"},
	}
}

// configuration is made anew for each command, as for each run of the program: it remembers what the cluster serves.
func (r release) configuration() (*action.Configuration, error) {
	env := cli.New()
	env.KubeConfig = r.settings.Kubeconfig
	env.SetNamespace(namespace)
	cfg := new(action.Configuration)
	log := func(format string, args ...any) { _, _ = fmt.Fprintf(GinkgoWriter, "helm: "+format+"\n", args...) }
	if err := cfg.Init(env.RESTClientGetter(), namespace, "secret", log); err != nil {
		return nil, fmt.Errorf("prepare helm: %w", err)
	}
	return cfg, nil
}

// withChart is configuration for what also needs the chart.
func (r release) withChart() (*action.Configuration, *chart.Chart, error) {
	cfg, err := r.configuration()
	if err != nil {
		return nil, nil, err
	}
	loaded, err := loader.Load(chartDir)
	if err != nil {
		return nil, nil, fmt.Errorf("load chart: %w", err)
	}
	return cfg, loaded, nil
}

// install does what helm install --wait does.
func (r release) install(ctx context.Context, values map[string]any) error {
	cfg, chart, err := r.withChart()
	if err != nil {
		return err
	}
	install := action.NewInstall(cfg)
	install.ReleaseName, install.Namespace, install.Timeout, install.Wait = releaseName, namespace, helmTimeout, true
	_, err = install.RunWithContext(ctx, chart, values)
	return err
}

// upgrade does what helm upgrade --wait --reset-then-reuse-values does.
func (r release) upgrade(ctx context.Context, values map[string]any) error {
	cfg, chart, err := r.withChart()
	if err != nil {
		return err
	}
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.Timeout, upgrade.Wait, upgrade.ResetThenReuseValues = namespace, helmTimeout, true, true
	_, err = upgrade.RunWithContext(ctx, releaseName, chart, values)
	return err
}

// rollback does what helm rollback --wait does, to the revision before.
func (r release) rollback() error {
	cfg, err := r.configuration()
	if err != nil {
		return err
	}
	rollback := action.NewRollback(cfg)
	rollback.Timeout, rollback.Wait = helmTimeout, true
	return rollback.Run(releaseName)
}

// test does what helm test does. It returns how each of the chart's tests ended, and what they printed.
func (r release) test() (phases []string, output string, err error) {
	cfg, err := r.configuration()
	if err != nil {
		return nil, "", err
	}
	var printed bytes.Buffer
	cfg.HookOutputFunc = func(string, string, string) io.Writer { return &printed }
	testing := action.NewReleaseTesting(cfg)
	testing.Namespace, testing.Timeout = namespace, helmTimeout
	rel, err := testing.Run(releaseName)
	if rel == nil {
		return nil, printed.String(), err
	}
	for _, hook := range rel.Hooks {
		if slices.Contains(hook.Events, helmrelease.HookTest) {
			phases = append(phases, string(hook.LastRun.Phase))
		}
	}
	return phases, printed.String(), err
}

// uninstall does what helm uninstall --wait does.
func (r release) uninstall(ignoreMissing bool) error {
	cfg, err := r.configuration()
	if err != nil {
		return err
	}
	uninstall := action.NewUninstall(cfg)
	uninstall.Timeout, uninstall.Wait, uninstall.IgnoreNotFound = helmTimeout, true, ignoreMissing
	_, err = uninstall.Run(releaseName)
	return err
}

// render does what helm template does, with further APIs that the cluster is taken to serve.
func (r release) render(values map[string]any, apis ...string) (string, error) {
	chart, err := loader.Load(chartDir)
	if err != nil {
		return "", fmt.Errorf("load chart: %w", err)
	}
	version, err := clientset.Discovery().ServerVersion()
	if err != nil {
		return "", fmt.Errorf("ask for the version of the API server: %w", err)
	}
	install := action.NewInstall(new(action.Configuration))
	install.ClientOnly, install.DryRun, install.APIVersions = true, true, apis
	install.KubeVersion = &chartutil.KubeVersion{Version: version.GitVersion, Major: version.Major, Minor: version.Minor}
	install.ReleaseName, install.Namespace = releaseName, namespace
	rel, err := install.Run(chart, values)
	if err != nil {
		return "", err
	}
	return rel.Manifest, nil
}
