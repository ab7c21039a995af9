package alerts

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"
)

// manifest is a rendered object.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name        string            `json:"name"`
		Namespace   string            `json:"namespace"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec ruleFile          `json:"spec"`
	Data map[string]string `json:"data"`
}

// render renders the chart and returns what a template made; nil: nothing.
func render(t *testing.T, template string, values map[string]any) *manifest {
	t.Helper()
	chart, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	install := action.NewInstall(new(action.Configuration))
	install.ClientOnly, install.DryRun = true, true
	install.ReleaseName, install.Namespace = "gpu-inventory-operator", "gpu-inventory"
	install.KubeVersion = &chartutil.KubeVersion{Version: "v1.32.0", Major: "1", Minor: "32"}
	release, err := install.Run(chart, values)
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	_, text, found := strings.Cut(release.Manifest, "# Source: gpu-inventory-operator/templates/"+template+"\n")
	if !found {
		return nil
	}
	text, _, _ = strings.Cut(text, "\n---\n")
	m := new(manifest)
	if err := yaml.Unmarshal([]byte(text), m); err != nil {
		t.Fatalf("%s: %v\n%s", template, err, text)
	}
	return m
}

func renderRules(t *testing.T, values map[string]any) *manifest {
	t.Helper()
	values["enabled"] = true
	m := render(t, "prometheusrule.yaml", map[string]any{"prometheusRule": values})
	if m != nil && (m.APIVersion != "monitoring.coreos.com/v1" || m.Kind != "PrometheusRule") {
		t.Fatalf("rendered a %s %s", m.APIVersion, m.Kind)
	}
	return m
}

func TestNothingIsRenderedUnlessAskedFor(t *testing.T) {
	for _, template := range []string{"prometheusrule.yaml", "dashboard.yaml"} {
		if m := render(t, template, map[string]any{}); m != nil {
			t.Errorf("%s is rendered by default", template)
		}
	}
	off := map[string]any{"enabled": false}
	if m := renderRules(t, map[string]any{"groups": map[string]any{"nodes": off, "fleet": off, "operator": off}}); m != nil {
		t.Errorf("without groups a PrometheusRule is rendered: %+v", m)
	}
}

func TestPrometheusRuleHasTheRulesOfTheFile(t *testing.T) {
	want := readRules(t)
	for _, g := range want.Groups {
		for _, r := range g.Rules {
			r.Annotations["runbook_url"] = "https://github.com/gpu-inventory/gpu-inventory-operator/blob/main/docs/runbooks/" + r.Alert + ".md"
		}
	}
	got := renderRules(t, map[string]any{})
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("rules (-file +rendered):\n%s", diff)
	}
	if got.Metadata.Namespace != "gpu-inventory" {
		t.Errorf("namespace = %q, want that of the release", got.Metadata.Namespace)
	}
}

func TestPrometheusRuleIsAsTheValuesSay(t *testing.T) {
	got := renderRules(t, map[string]any{
		"namespace": "monitoring", "runbookUrl": "https://wiki.example.com/gpu/",
		"labels": map[string]any{"release": "kps"}, "annotations": map[string]any{"a": "b"},
		"additionalRuleLabels": map[string]any{"team": "gpu"},
		"groups":               map[string]any{"fleet": map[string]any{"enabled": false}},
	})
	if got.Metadata.Namespace != "monitoring" || got.Metadata.Labels["release"] != "kps" || got.Metadata.Annotations["a"] != "b" {
		t.Errorf("metadata = %+v", got.Metadata)
	}
	want := readRules(t)
	want.Groups = append(want.Groups[:1], want.Groups[2])
	for _, g := range want.Groups {
		for _, r := range g.Rules {
			r.Annotations["runbook_url"] = "https://wiki.example.com/gpu/" + r.Alert + ".md"
			maps.Copy(r.Labels, map[string]string{"team": "gpu"})
		}
	}
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("rules (-want +rendered):\n%s", diff)
	}
}

func TestRunbooksMayBeLeftOut(t *testing.T) {
	if diff := cmp.Diff(readRules(t), renderRules(t, map[string]any{"runbookUrl": ""}).Spec); diff != "" {
		t.Errorf("rules (-file +rendered):\n%s", diff)
	}
}

func TestDashboardIsRenderedAsItIs(t *testing.T) {
	file, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		values          map[string]any
		wantNamespace   string
		wantLabel       string
		wantAnnotations map[string]string
	}{
		"by default": {wantNamespace: "gpu-inventory", wantLabel: "grafana_dashboard"},
		"with all values": {
			values: map[string]any{
				"namespace": "monitoring", "folder": "GPUs",
				"labels": map[string]any{"my_dashboard": "1"}, "annotations": map[string]any{"a": "b"},
			},
			wantNamespace: "monitoring", wantLabel: "my_dashboard",
			wantAnnotations: map[string]string{"a": "b", "grafana_folder": "GPUs"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			values := map[string]any{"enabled": true}
			maps.Copy(values, tc.values)
			got := render(t, "dashboard.yaml", map[string]any{"dashboard": values})
			if got == nil || got.APIVersion != "v1" || got.Kind != "ConfigMap" {
				t.Fatalf("rendered %+v, want a ConfigMap", got)
			}
			if got.Metadata.Namespace != tc.wantNamespace || got.Metadata.Labels[tc.wantLabel] != "1" {
				t.Errorf("metadata = %+v, want namespace %s and label %s", got.Metadata, tc.wantNamespace, tc.wantLabel)
			}
			if diff := cmp.Diff(tc.wantAnnotations, got.Metadata.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			want := map[string]string{"gpu-inventory.json": strings.TrimSpace(string(file))}
			if diff := cmp.Diff(want, got.Data); diff != "" {
				t.Errorf("data (-file +rendered):\n%s", diff)
			}
		})
	}
}
