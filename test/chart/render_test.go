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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// valueFiles are the values that the chart must work with: each file in ci, the defaults among them.
func valueFiles(t *testing.T) map[string]map[string]any {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(chartDir, "ci", "*-values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there is no ci/*-values.yaml")
	}
	all := map[string]map[string]any{}
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
func template(t *testing.T, values map[string]any) (*release.Release, error) {
	t.Helper()
	return templateFor(t, chartutil.KubeVersion{Version: "v1.32.0", Major: "1", Minor: "32"}, values)
}

func templateFor(t *testing.T, version chartutil.KubeVersion, values map[string]any) (*release.Release, error) {
	t.Helper()
	install := action.NewInstall(new(action.Configuration))
	install.ClientOnly, install.DryRun = true, true
	install.ReleaseName, install.Namespace = releaseName, namespace
	install.KubeVersion = &version
	return install.Run(loadChart(t), values)
}

// manifests renders all that a release has, the pod of helm test included.
func manifests(t *testing.T, values map[string]any) string {
	t.Helper()
	rel, err := template(t, values)
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	all := rel.Manifest
	for _, hook := range rel.Hooks {
		all += "\n---\n" + hook.Manifest
	}
	return all
}

// render decodes what a release installs. It fails on anything that the API types do not have.
func render(t *testing.T, values map[string]any) []client.Object {
	t.Helper()
	rel, err := template(t, values)
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	return decode(t, rel.Manifest)
}

// renderTest decodes what helm test adds while it runs.
func renderTest(t *testing.T, values map[string]any) []client.Object {
	t.Helper()
	rel, err := template(t, values)
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	var objects []client.Object
	for _, hook := range rel.Hooks {
		objects = append(objects, decode(t, hook.Manifest)...)
	}
	return objects
}

// decode decodes into the API types, and what they do not have, such as a ServiceMonitor, into a plain object.
func decode(t *testing.T, manifests string) []client.Object {
	t.Helper()
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var objects []client.Object
	for _, document := range documentsSep.Split(manifests, -1) {
		var content map[string]any
		if err := yaml.UnmarshalStrict([]byte(document), &content); err != nil {
			t.Fatalf("not YAML: %v\n%s", err, document)
		}
		if len(content) == 0 {
			continue // comments only
		}
		object, _, err := decoder.Decode([]byte(document), nil, nil)
		if runtime.IsNotRegisteredError(err) {
			object, err = &unstructured.Unstructured{Object: content}, nil
		}
		if err != nil {
			t.Fatalf("decode: %v\n%s", err, document)
		}
		objects = append(objects, object.(client.Object))
	}
	return objects
}

// plain returns the objects of a kind that the API types do not have.
func plain(objects []client.Object, kind string) []*unstructured.Unstructured {
	var picked []*unstructured.Unstructured
	for _, object := range pick[*unstructured.Unstructured](objects) {
		if object.GetKind() == kind {
			picked = append(picked, object)
		}
	}
	return picked
}

// onlyPlain returns the spec of the one object of a kind that the API types do not have.
func onlyPlain(t *testing.T, values map[string]any, kind string) map[string]any {
	t.Helper()
	picked := plain(render(t, values), kind)
	if len(picked) != 1 {
		t.Fatalf("rendered %d objects of kind %s, want 1", len(picked), kind)
	}
	return picked[0].Object["spec"].(map[string]any)
}

// named returns the object of a type that has this name.
func named[T client.Object](t *testing.T, objects []client.Object, name string) T {
	t.Helper()
	for _, object := range pick[T](objects) {
		if object.GetName() == name {
			return object
		}
	}
	t.Fatalf("rendered no %T %s", *new(T), name)
	return *new(T)
}

// set makes values of paths such as metrics.port, in place of nested maps.
func set(pairs ...any) map[string]any {
	values := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		path := strings.Split(pairs[i].(string), ".")
		inner := values
		for _, key := range path[:len(path)-1] {
			if _, ok := inner[key]; !ok {
				inner[key] = map[string]any{}
			}
			inner = inner[key].(map[string]any)
		}
		inner[path[len(path)-1]] = pairs[i+1]
	}
	return values
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
