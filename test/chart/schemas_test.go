package chart

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/gpu-inventory/gpu-inventory-operator/charts"
)

// The CustomResourceDefinitions of the optional objects, from the modules that define them.
var crdModules = map[string]string{ // module and version: files
	"github.com/prometheus-operator/prometheus-operator@v0.85.0": "example/prometheus-operator-crd/*.yaml",
	"github.com/cert-manager/cert-manager@v1.21.2":               "deploy/crds/cert-manager.io_*.yaml",
}

// kubeconform, which charts are often checked with, has no schemas of its own. Those of Kubernetes come from a running API
// server, the others from the CustomResourceDefinitions; all are closed, so that a misspelt field is an error.
func TestManifestsMatchTheSchemasStrictly(t *testing.T) {
	schemas, dir := newSchemas(t), t.TempDir()
	for name, values := range valueFiles(t) {
		content := manifests(t, values)
		for _, document := range documentsSep.Split(content, -1) {
			schemas.want(t, document)
		}
		for _, cm := range pick[*corev1.ConfigMap](render(t, values)) {
			content += "\n---\n" + cm.Data["inventory.yaml"]
		}
		writeFile(t, filepath.Join(dir, name+".yaml"), []byte(content))
	}
	schemas.want(t, "apiVersion: homelab.youngju.dev/v1\nkind: GpuInventory\n")
	schemas.write(t)
	if out, err := schemas.kubeconform(t, dir); err != nil {
		t.Errorf("kubeconform: %v\n%s", err, out)
	}

	// What it is there for.
	good := string(readFile(t, filepath.Join(dir, "everything.yaml")))
	for what, change := range map[string][2]string{
		"a misspelt field of Kubernetes":    {"terminationGracePeriodSeconds:", "terminationGracePeriod:"},
		"a misspelt field of a CRD":         {"scrapeTimeout:", "scrapeTimeOut:"},
		"a misspelt field of the inventory": {"gpusPerNode:", "gpuPerNode:"},
		"text where a number belongs":       {"replicas: 3", "replicas: many"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if what == "a misspelt field of the inventory" {
			bad = strings.ReplaceAll(good, change[0], change[1])
		}
		if bad == good {
			t.Fatalf("%q is not in the manifests", change[0])
		}
		folder := t.TempDir()
		writeFile(t, filepath.Join(folder, "bad.yaml"), []byte(bad))
		var exit *exec.ExitError
		if out, err := schemas.kubeconform(t, folder); !errors.As(err, &exit) {
			t.Errorf("kubeconform on %s: %v, want that it fails\n%s", what, err, out)
		}
	}
}

// The schemas say nothing of names, ports that are there twice, or roles that cannot be bound: an API server does.
func TestAPIServerAcceptsEveryObjectStrictly(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			strict := client.NewDryRunClient(client.WithFieldValidation(c.Client, "Strict"))
			accepted := 0
			for _, object := range append(render(t, values), renderTest(t, values)...) {
				if _, ok := object.(*unstructured.Unstructured); ok {
					continue // of an API that this server has not
				}
				if object.GetNamespace() != "" {
					object.SetNamespace(c.namespace)
				}
				if err := strict.Create(t.Context(), object); err != nil && !apierrors.IsAlreadyExists(err) {
					t.Errorf("create %T %s: %v", object, object.GetName(), err)
				}
				accepted++
			}
			if accepted == 0 {
				t.Error("nothing to create")
			}
		})
	}
}

// schemas are JSON schemas in a folder, one file a kind.
type schemas struct {
	dir, tool string
	wanted    map[string]bool // apiVersion/Kind
}

func newSchemas(t *testing.T) *schemas {
	t.Helper()
	tool, err := filepath.Abs("../../hack/tools/kubeconform/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	return &schemas{dir: t.TempDir(), tool: tool, wanted: map[string]bool{}}
}

func (s *schemas) want(t *testing.T, document string) {
	t.Helper()
	var object struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal([]byte(document), &object); err != nil {
		t.Fatal(err)
	}
	if object.Kind != "" {
		s.wanted[object.APIVersion+"/"+object.Kind] = true
	}
}

func (s *schemas) kubeconform(t *testing.T, dir string) (string, error) {
	t.Helper()
	location := filepath.Join(s.dir, "{{.ResourceAPIVersion}}", "{{.Group}}", "{{.ResourceKind}}.json")
	cmd := exec.CommandContext(t.Context(), "go", "tool", "-modfile="+s.tool, "kubeconform", "-strict", "-schema-location", location, dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// write writes the schemas of all that is wanted, and fails when one of them is nowhere.
func (s *schemas) write(t *testing.T) {
	t.Helper()
	s.fromCRDs(t, charts.CRD) // not from the API server: other tests take it away there
	for module, pattern := range crdModules {
		files, err := filepath.Glob(filepath.Join(moduleDir(t, module), pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no CustomResourceDefinitions in %s: %v", module, err)
		}
		for _, file := range files {
			s.fromCRDs(t, readFile(t, file))
		}
	}
	s.fromAPIServer(t)
	if len(s.wanted) != 0 {
		t.Fatalf("no schema for %v", names(s.wanted))
	}
}

// fromAPIServer takes the OpenAPI documents of the running API server, whose schemas refer to each other.
func (s *schemas) fromAPIServer(t *testing.T) {
	t.Helper()
	cp, err := controlPlane()
	if err != nil {
		t.Fatal(err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(cp.Config)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := d.OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		apiVersion := strings.TrimPrefix(strings.TrimPrefix(path, "apis/"), "api/")
		if !slices.ContainsFunc(names(s.wanted), func(kind string) bool { return strings.HasPrefix(kind, apiVersion+"/") }) {
			continue
		}
		content, err := paths[path].Schema("application/json")
		if err != nil {
			t.Fatalf("get the OpenAPI document of %s: %v", path, err)
		}
		var document struct {
			Components struct{ Schemas map[string]any }
		}
		if err := json.Unmarshal(content, &document); err != nil {
			t.Fatal(err)
		}
		closeObjects(document.Components.Schemas)
		for name, schema := range document.Components.Schemas {
			_, kind, _ := cutLast(name, ".")
			group, _ := schema.(map[string]any)["x-kubernetes-group-version-kind"].([]any)
			if len(group) == 1 {
				s.put(t, apiVersion, kind, map[string]any{"$ref": "#/components/schemas/" + name, "components": map[string]any{"schemas": document.Components.Schemas}})
			}
		}
	}
}

// fromCRDs takes the schemas of each version of a CustomResourceDefinition.
func (s *schemas) fromCRDs(t *testing.T, content []byte) {
	t.Helper()
	var crd struct {
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(content, &crd); err != nil {
		t.Fatal(err)
	}
	for _, version := range crd.Spec.Versions {
		closeObjects(version.Schema.OpenAPIV3Schema)
		s.put(t, crd.Spec.Group+"/"+version.Name, crd.Spec.Names.Kind, version.Schema.OpenAPIV3Schema)
	}
}

func (s *schemas) put(t *testing.T, apiVersion, kind string, schema any) {
	t.Helper()
	if !s.wanted[apiVersion+"/"+kind] {
		return
	}
	delete(s.wanted, apiVersion+"/"+kind)
	content, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		version = apiVersion // kubeconform calls the core group as its version
	}
	dir := filepath.Join(s.dir, version, group)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, strings.ToLower(kind)+".json"), content)
}

// closeObjects has objects refuse fields that their schema does not name, as an API server does that validates strictly.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		for _, inner := range s {
			closeObjects(inner)
		}
		_, hasFields := s["properties"].(map[string]any)
		_, isOpen := s["additionalProperties"]
		if open, _ := s["x-kubernetes-preserve-unknown-fields"].(bool); s["type"] == "object" && hasFields && !isOpen && !open {
			s["additionalProperties"] = false
		}
	case []any:
		for _, inner := range s {
			closeObjects(inner)
		}
	}
}

// moduleDir downloads a module, by the checksum that the Go checksum database has of it.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var found struct{ Dir, Error string }
	if err := errors.Join(err, json.Unmarshal(out, &found)); err != nil {
		t.Fatalf("go mod download %s: %v %s%s", module, err, found.Error, stderr.String())
	}
	return found.Dir
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(fmt.Errorf("write %s: %w", path, err))
	}
}
