package inventoryfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const whole = `# The inventory of the whole cluster.
---
apiVersion: homelab.youngju.dev/v1
kind: GpuInventory
metadata:
  name: cluster
  labels: {team: ml}
spec:
  note: all of it
  nodeSelector: {}
  expected:
  - {name: h100, nodes: 0}
---
# nothing here
`

func TestParseTakesWhatTheFileSaysAndNothingElse(t *testing.T) {
	got, err := Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := &Manifest{
		Name: "cluster",
		Body: []byte(`{"kind":"GpuInventory","apiVersion":"homelab.youngju.dev/v1","metadata":{"name":"cluster","labels":{"team":"ml"}},` +
			`"spec":{"note":"all of it","nodeSelector":{},"expected":[{"name":"h100","nodes":0}]}}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse() (-want +got):\n%s", diff)
	}
}

func TestParseOfASpecWithNothingInItOwnsNothing(t *testing.T) {
	for _, spec := range []string{"", "spec:\n", "spec: {}\n", "spec: {note: null}\n"} {
		got, err := Parse([]byte("apiVersion: homelab.youngju.dev/v1\nkind: GpuInventory\nmetadata: {name: cluster}\n" + spec))
		if err != nil {
			t.Fatalf("%q: %v", spec, err)
		}
		if want := `{"kind":"GpuInventory","apiVersion":"homelab.youngju.dev/v1","metadata":{"name":"cluster"}}`; string(got.Body) != want {
			t.Errorf("%q: applies %s, want %s", spec, got.Body, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const head = "apiVersion: homelab.youngju.dev/v1\nkind: GpuInventory\n"
	cases := map[string]struct{ content, want string }{
		"an empty file":            {"# nothing\n---\n", "it is empty"},
		"two objects":              {whole + "---\n" + head + "metadata: {name: other}\n", "it has 2 documents"},
		"another kind":             {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", `it has apiVersion "v1" and kind "ConfigMap"`},
		"another version":          {"apiVersion: homelab.youngju.dev/v2\nkind: GpuInventory\nmetadata: {name: x}\n", `"homelab.youngju.dev/v2"`},
		"a list":                   {"- a\n- b\n", "not an object"},
		"what is no YAML":          {"a: [\n", "yaml:"},
		"a status":                 {head + "metadata: {name: x}\nstatus: {}\n", "it has a status"},
		"a misspelt field":         {head + "metadata: {name: x}\nspec: {nodeSelecter: {}}\n", `unknown field "spec.nodeSelecter"`},
		"a field in another case":  {head + "metadata: {name: x}\nspec: {Note: x}\n", `unknown field "spec.Note"`},
		"a field twice":            {head + "metadata: {name: x}\nspec: {note: a, note: b}\n", "already set"},
		"a value of another type":  {head + "metadata: {name: x}\nspec: {note: [a]}\n", "note"},
		"no metadata":              {head, "give metadata.name"},
		"no name":                  {head + "metadata: {}\n", "metadata.name"},
		"a name that cannot exist": {head + "metadata: {name: A_b}\n", `metadata.name "A_b"`},
		"a namespace":              {head + "metadata: {name: x, namespace: y}\n", "metadata.namespace: only name, labels and annotations"},
		"a version":                {head + "metadata: {name: x, resourceVersion: \"1\"}\n", "metadata.resourceVersion"},
		"a field beside the spec":  {head + "metadata: {name: x}\nspecs: {}\n", `unknown field "specs"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(tc.content))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("Parse() = %v, %v; want an error that says %q", got, err, tc.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has more than one line: %q", err)
			}
		})
	}
}

func TestReadNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.yaml")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{empty, filepath.Join(dir, "missing.yaml"), dir} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("Read(%s) = %v", path, err)
		}
	}
	good := filepath.Join(dir, "good.yaml")
	if err := os.WriteFile(good, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := Read(good); err != nil || m.Path != good || m.Name != "cluster" {
		t.Errorf("Read() = %v, %v", m, err)
	}
}
