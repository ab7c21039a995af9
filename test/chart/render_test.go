package chart

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

const (
	chartDir    = "../../charts/gpu-inventory-operator"
	releaseName = "gpu-inventory-operator"
	namespace   = "gpu-inventory"
	inventories = "homelab.youngju.dev/v1/GpuInventory" // as a cluster that has the CRD lists it
)

var (
	scheme       = newScheme()
	documentsSep = regexp.MustCompile(`(?m)^---$`)
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(apiextensionsv1.AddToScheme(s))
	utilruntime.Must(v1.AddToScheme(s))
	return s
}

// valueFiles are the values that the chart must work with: the defaults, and each file in ci.
func valueFiles(t *testing.T) map[string]map[string]any {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(chartDir, "ci", "*-values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there is no ci/*-values.yaml")
	}
	all := map[string]map[string]any{"default": {}}
	for _, file := range files {
		values, err := chartutil.ReadValuesFile(file)
		if err != nil {
			t.Fatalf("read %s: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), "-values.yaml")] = values
	}
	return all
}

func loadChart(t *testing.T) *helmchart.Chart {
	t.Helper()
	chrt, err := loader.Load(chartDir)
	if err != nil {
		t.Fatalf("load chart: %v", err)
	}
	return chrt
}

// template renders as helm template does, for the oldest Kubernetes that the chart supports.
func template(t *testing.T, values map[string]any, apis ...string) (*release.Release, error) {
	t.Helper()
	return templateFor(t, chartutil.KubeVersion{Version: "v1.32.0", Major: "1", Minor: "32"}, values, apis...)
}

func templateFor(t *testing.T, version chartutil.KubeVersion, values map[string]any, apis ...string) (*release.Release, error) {
	t.Helper()
	install := action.NewInstall(new(action.Configuration))
	install.ClientOnly, install.DryRun = true, true
	install.ReleaseName, install.Namespace = releaseName, namespace
	install.KubeVersion = &version
	install.APIVersions = apis
	return install.Run(loadChart(t), values)
}

// render decodes what is rendered, hooks included. It fails on anything that the API types do not have.
func render(t *testing.T, values map[string]any, apis ...string) []client.Object {
	t.Helper()
	rel, err := template(t, values, apis...)
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	manifests := rel.Manifest
	for _, hook := range rel.Hooks {
		manifests += "\n---\n" + hook.Manifest
	}
	return decode(t, manifests)
}

func decode(t *testing.T, manifests string) []client.Object {
	t.Helper()
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var objects []client.Object
	for _, document := range documentsSep.Split(manifests, -1) {
		var content map[string]any
		if err := yaml.Unmarshal([]byte(document), &content); err != nil {
			t.Fatalf("not YAML: %v\n%s", err, document)
		}
		if len(content) == 0 {
			continue // comments only
		}
		object, _, err := decoder.Decode([]byte(document), nil, nil)
		if err != nil {
			t.Fatalf("decode: %v\n%s", err, document)
		}
		objects = append(objects, object.(client.Object))
	}
	return objects
}

// pick returns the objects of one type.
func pick[T client.Object](objects []client.Object) []T {
	var picked []T
	for _, object := range objects {
		if o, ok := object.(T); ok {
			picked = append(picked, o)
		}
	}
	return picked
}

// only returns the one object of a type.
func only[T client.Object](t *testing.T, objects []client.Object) T {
	t.Helper()
	picked := pick[T](objects)
	if len(picked) != 1 {
		t.Fatalf("rendered %d objects of type %T, want 1", len(picked), *new(T))
	}
	return picked[0]
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
