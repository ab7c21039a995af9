package chart

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
)

var update = flag.Bool("update", false, "rewrite the table of values in the chart's README.md")

func TestLintFindsNothing(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			lint := action.NewLint()
			lint.Strict, lint.Namespace = true, namespace
			for _, err := range lint.Run([]string{chartDir}, values).Errors {
				t.Error(err)
			}
		})
	}
}

func TestSchemaRefuses(t *testing.T) {
	inventory := func(key string, value any) map[string]any {
		return map[string]any{"inventory": map[string]any{key: value}}
	}
	pool := func(pool map[string]any) map[string]any { return inventory("expected", []any{pool}) }
	for name, tc := range map[string]struct {
		values map[string]any
		want   string // part of the message: where the fault is
	}{
		"an unknown value":              {map[string]any{"replicas": 1}, "replicas"},
		"an unknown value of image":     {map[string]any{"image": map[string]any{"name": "x"}}, "name"},
		"an unknown value of inventory": {inventory("notes", "x"), "notes"},
		"an unknown value of crds":      {map[string]any{"crds": map[string]any{"enabled": true}}, "enabled"},
		"an unknown value of a pool":    {pool(map[string]any{"name": "a", "nodes": 1, "gpus": 8}), "gpus"},
		"a pool without nodes":          {pool(map[string]any{"name": "a"}), "nodes"},
		"labels in place of a selector": {inventory("nodeSelector", map[string]any{"pool": "a"}), "pool"},
		"a log level that is none":      {map[string]any{"log": map[string]any{"level": "trace"}}, "level"},
		"a negative limit":              {map[string]any{"metrics": map[string]any{"perNodeLimit": -1}}, "perNodeLimit"},
		"a digest without algorithm":    {map[string]any{"image": map[string]any{"digest": "0123"}}, "digest"},
		"a name in capitals":            {map[string]any{"configMap": map[string]any{"name": "GPUs"}}, "configMap"},
		"an argument that is no flag":   {map[string]any{"extraArgs": []any{"debug"}}, "extraArgs"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := template(t, tc.values)
			if err == nil || !strings.Contains(err.Error(), "meet the specifications of the schema") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("render: %v, want the schema to refuse %s", err, tc.want)
			}
		})
	}
}

func TestChartRefusesWhatCannotGoTogether(t *testing.T) {
	values := map[string]any{"metrics": map[string]any{"namespaces": true}, "allocation": map[string]any{"enabled": false}}
	const want = "set allocation.enabled=true or metrics.namespaces=false"
	if _, err := template(t, values); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("render: %v, want %q in it", err, want)
	}
}

func TestSchemaTakesTheGlobalValuesOfAParentChart(t *testing.T) {
	if _, err := template(t, map[string]any{"global": map[string]any{"anything": 1}}); err != nil {
		t.Error(err)
	}
}

func TestChartRefusesAnOlderKubernetes(t *testing.T) {
	for version, want := range map[string]bool{"v1.31.9": false, "v1.32.0": true, "v1.32.5-gke.100": true, "v1.37.2": true} {
		_, err := templateFor(t, chartutil.KubeVersion{Version: version}, nil)
		if got := err == nil; got != want {
			t.Errorf("render for Kubernetes %s: %v, want accepted: %t", version, err, want)
		}
	}
}

// value is one entry of values.yaml that has a description.
type value struct {
	key, kind, fallback, description string
}

func TestEveryValueIsDescribedAndInTheSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(readFile(t, filepath.Join(chartDir, "values.schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	properties := schemaKeys("", schema)
	delete(properties, "global")
	described := map[string]bool{}
	for _, v := range documentedValues(t) {
		described[v.key] = true
	}
	if diff := cmp.Diff(names(described), names(properties)); diff != "" {
		t.Errorf("values (-values.yaml +values.schema.json):\n%s", diff)
	}
}

// schemaKeys are the values that a schema knows, without those inside of lists and of objects that have values.yaml describe
// them as a whole.
func schemaKeys(prefix string, schema map[string]any) map[string]bool {
	keys := map[string]bool{}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		inner := schemaKeys(prefix+name+".", property.(map[string]any))
		if len(inner) == 0 {
			inner = map[string]bool{prefix + name: true}
		}
		maps.Copy(keys, inner)
	}
	return keys
}

func TestReadmeHasTheTableOfValues(t *testing.T) {
	const begin, end = "<!-- values: begin -->\n", "<!-- values: end -->"
	path := filepath.Join(chartDir, "README.md")
	readme := string(readFile(t, path))
	head, rest, ok := strings.Cut(readme, begin)
	got, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("README.md lacks the marks %q and %q", begin, end)
	}
	want := valuesTable(documentedValues(t))
	if *update {
		if err := os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("README.md is behind values.yaml; run go test ./test/chart -run Readme -update (-want +got):\n%s", diff)
	}
}

func valuesTable(values []value) string {
	var table strings.Builder
	table.WriteString("| Key | Type | Default | Description |\n|-----|------|---------|-------------|\n")
	for _, v := range values {
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", v.key, v.kind, v.fallback, v.description)
	}
	return table.String()
}

// documentedValues reads values.yaml as helm-docs does: "# -- text" describes the value below, "# @default -- text" replaces
// its default.
func documentedValues(t *testing.T) []value {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal(readFile(t, filepath.Join(chartDir, "values.yaml")), &document); err != nil {
		t.Fatal(err)
	}
	values := collectValues(t, "", document.Content[0])
	slices.SortFunc(values, func(a, b value) int { return strings.Compare(a.key, b.key) })
	return values
}

func collectValues(t *testing.T, prefix string, mapping *yaml.Node) []value {
	t.Helper()
	var values []value
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, node := mapping.Content[i], mapping.Content[i+1]
		name := prefix + key.Value
		text, ok := strings.CutPrefix(key.HeadComment, "# -- ")
		switch {
		case ok:
			values = append(values, describe(t, name, text, node))
		case node.Kind == yaml.MappingNode && len(node.Content) > 0:
			values = append(values, collectValues(t, name+".", node)...)
		default:
			t.Errorf("values.yaml does not describe %s: put a comment that begins with # -- above it", name)
		}
	}
	return values
}

func describe(t *testing.T, key, comment string, node *yaml.Node) value {
	t.Helper()
	text, fallback, ok := strings.Cut(comment, "\n# @default -- ")
	if !ok {
		var content any
		if err := node.Decode(&content); err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		fallback = "`" + string(encoded) + "`"
	}
	kinds := map[string]string{"!!str": "string", "!!int": "int", "!!bool": "bool", "!!seq": "list", "!!map": "object"}
	return value{key: key, kind: kinds[node.Tag], fallback: fallback, description: strings.ReplaceAll(text, "\n# ", " ")}
}
