package chart

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
)

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
	pool := func(pool map[string]any) map[string]any { return set("inventory.expected", []any{pool}) }
	for name, tc := range map[string]struct {
		values map[string]any
		want   string // part of the message: where the fault is
	}{
		"an unknown value":                {set("replicas", 1), "replicas"},
		"an unknown value of image":       {set("image.name", "x"), "name"},
		"an unknown value of inventory":   {set("inventory.notes", "x"), "notes"},
		"an unknown value of crds":        {set("crds.enabled", true), "enabled"},
		"an unknown value far below":      {set("metrics.certificate.certManager.secretName", "x"), "secretName"},
		"an unknown group of alerts":      {set("prometheusRule.groups.gpus.enabled", true), "gpus"},
		"an unknown value of a pool":      {pool(map[string]any{"name": "a", "nodes": 1, "gpus": 8}), "gpus"},
		"a pool without nodes":            {pool(map[string]any{"name": "a"}), "nodes"},
		"a pool that the API refuses":     {pool(map[string]any{"name": "a", "nodes": -1}), "nodes"},
		"labels in place of a selector":   {set("inventory.nodeSelector.pool", "a"), "pool"},
		"a log level that is none":        {set("log.level", "trace"), "level"},
		"a negative limit":                {set("metrics.perNodeLimit", -1), "perNodeLimit"},
		"a port that needs a capability":  {set("metrics.port", 443), "port"},
		"a digest without algorithm":      {set("image.digest", "0123"), "digest"},
		"a name in capitals":              {set("configMap.name", "GPUs"), "configMap"},
		"an argument that is no flag":     {set("extraArgs", []any{"debug"}), "extraArgs"},
		"an interval without a unit":      {set("metrics.serviceMonitor.interval", "30"), "interval"},
		"a budget that lets nothing go":   {set("podDisruptionBudget.maxUnavailable", 0), "maxUnavailable"},
		"a reader without a namespace":    {set("metrics.readers", []any{map[string]any{"name": "x"}}), "namespace"},
		"an unset value that is needed":   {set("metrics.port", nil), "port"},
		"a label that is a number":        {set("commonLabels", map[string]any{"a": 1}), "commonLabels"},
		"a pull secret without a name":    {set("global.imagePullSecrets", []any{map[string]any{}}), "name"},
		"a registry that ends in a slash": {set("global.imageRegistry", "m.io/"), "imageRegistry"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := template(t, tc.values)
			if err == nil || !strings.Contains(err.Error(), "meet the specifications of the schema") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("render: %v, want the schema to refuse %s", err, tc.want)
			}
		})
	}
}

func TestChartRefusesWhatCannotGoTogetherAndSaysWhatToSet(t *testing.T) {
	arg := func(flag string) map[string]any { return set("extraArgs", []any{flag}) }
	for name, tc := range map[string]struct {
		values map[string]any
		want   string
	}{
		"namespaces without allocation": {
			set("metrics.namespaces", true, "allocation.enabled", false), "set allocation.enabled=true or metrics.namespaces=false",
		},
		"the port of the probes": {set("metrics.port", 8081), "metrics.port is 8081, where the probes are: set another port"},
		"two certificates": {
			set("metrics.certificate.secretName", "x", "metrics.certificate.certManager.enabled", true), "both secretName and certManager.enabled: set one of them",
		},
		"a certificate for plain metrics": {
			set("metrics.secure", false, "metrics.certificate.secretName", "x"), "set metrics.secure=true, or leave metrics.certificate.secretName empty",
		},
		"readers of plain metrics": {
			set("metrics.secure", false, "metrics.readers", []any{map[string]any{"name": "a", "namespace": "b"}}), "set metrics.secure=true or metrics.readers=[]",
		},
		"both monitors": {
			set("metrics.secure", false, "metrics.serviceMonitor.enabled", true, "metrics.podMonitor.enabled", true), "set enabled=false for one of them",
		},
		"a PodMonitor without a token": {set("metrics.podMonitor.enabled", true), "set metrics.podMonitor.authorization"},
		"a monitor that cannot see the CA": {
			set("metrics.serviceMonitor.enabled", true, "metrics.serviceMonitor.namespace", "x", "metrics.certificate.certManager.enabled", true),
			"leave metrics.serviceMonitor.namespace empty, or set metrics.serviceMonitor.tlsConfig",
		},
		"no account":                {set("serviceAccount.create", false), "set serviceAccount.name to one that exists"},
		"an inventory of no effect": {set("inventory.create", false, "inventory.note", "x"), "set inventory.create=true, or leave them empty"},
		"egress of no policy":       {set("networkPolicy.egress.enabled", true), "set networkPolicy.enabled=true too"},
		"a tag of no image":         {set("tests.image.tag", "x"), "set tests.image.repository"},
		"bytes in place of Mi":      {set("resources.limits.memory", 256), "resources.limits.memory is 256, less than the operator starts with: set at least 16Mi"},
		"two writers":               {arg("--leader-elect=false"), "set replicaCount=1"},
		"another Lease":             {arg("--leader-election-id=x"), "take it out"},
		"another port of probes":    {arg("--health-probe-bind-address=:1"), "take it out"},
		"a flag of a value":         {arg("--metrics-bind-address=:1"), "set metrics.port in its place"},
		"a flag of a value, short":  {arg("-dra"), "set dra.enabled in its place"},
		"the namespace":             {set("extraEnv", []any{map[string]any{"name": "POD_NAMESPACE", "value": "x"}}), "set namespaceOverride in its place"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := template(t, tc.values); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("render: %v, want %q in it", err, tc.want)
			}
		})
	}
	_, err := template(t, set("metrics.port", 8081, "tests.image.tag", "x"))
	if err == nil || !strings.Contains(err.Error(), "metrics.port") || !strings.Contains(err.Error(), "tests.image.repository") {
		t.Errorf("render: %v, want both faults in it", err)
	}
}

// A flag that the chart sets and that extraArgs could set again would come last and win, with other permissions or ports than
// it needs.
func TestExtraArgsTakeNoFlagThatTheChartSets(t *testing.T) {
	for name, values := range valueFiles(t) {
		extra := map[string]bool{}
		if list, ok := values["extraArgs"].([]any); ok {
			for _, arg := range list {
				extra[arg.(string)] = true
			}
		}
		for _, arg := range container(t, values).Args {
			if extra[arg] {
				continue
			}
			if _, err := template(t, set("extraArgs", []any{arg})); err == nil {
				t.Errorf("%s: extraArgs may have %s, which a value sets", name, arg)
			}
		}
	}
}

func TestSchemaTakesTheValuesOfAParentChart(t *testing.T) {
	if _, err := template(t, set("global.anything", 1, "enabled", true)); err != nil {
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

func TestEveryValueIsInTheSchemaAndInTheReadme(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(readFile(t, filepath.Join(chartDir, "values.schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	readme := string(readFile(t, filepath.Join(chartDir, "README.md")))
	var document yaml.Node
	if err := yaml.Unmarshal(readFile(t, filepath.Join(chartDir, "values.yaml")), &document); err != nil {
		t.Fatal(err)
	}
	values := describedValues("", document.Content[0])
	if len(values) < 50 {
		t.Fatalf("values.yaml has %d described values: has the way of describing them changed?", len(values))
	}
	for _, value := range values {
		if !strings.Contains(readme, "\n| "+value+" | ") {
			t.Errorf("README.md lacks %s: run make generate", value)
		}
		inner := schema
		for key := range strings.SplitSeq(value, ".") {
			properties, _ := inner["properties"].(map[string]any)
			inner, _ = properties[key].(map[string]any)
		}
		if inner["description"] == nil {
			t.Errorf("values.schema.json lacks %s: run make generate", value)
		}
	}
}

// describedValues are the paths of the values that have a "# --" comment.
func describedValues(prefix string, mapping *yaml.Node) []string {
	var found []string
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, node := mapping.Content[i], mapping.Content[i+1]
		switch {
		case strings.Contains(key.HeadComment, "# -- "):
			found = append(found, prefix+key.Value)
		case node.Kind == yaml.MappingNode:
			found = append(found, describedValues(prefix+key.Value+".", node)...)
		}
	}
	return found
}

// A value that no file sets is rendered with its default only.
func TestTheFilesInCISetEveryValue(t *testing.T) {
	var document yaml.Node
	if err := yaml.Unmarshal(readFile(t, filepath.Join(chartDir, "values.yaml")), &document); err != nil {
		t.Fatal(err)
	}
	files := valueFiles(t)
	for _, value := range describedValues("", document.Content[0]) {
		// What a PodMonitor has, a ServiceMonitor has too, by the same template.
		value = strings.Replace(value, "metrics.podMonitor.", "metrics.serviceMonitor.", 1)
		if !slices.ContainsFunc(slices.Collect(maps.Values(files)), func(values map[string]any) bool { return lookup(values, value) }) {
			t.Errorf("no file in ci sets %s", value)
		}
	}
}

// In Helm, null takes a default away.
func TestAListOrAMapMayBeTakenAway(t *testing.T) {
	var document yaml.Node
	if err := yaml.Unmarshal(readFile(t, filepath.Join(chartDir, "values.yaml")), &document); err != nil {
		t.Fatal(err)
	}
	files := valueFiles(t)
	for _, value := range describedValues("", document.Content[0]) {
		inner, key := "", value
		if i := strings.LastIndex(value, "."); i >= 0 {
			inner, key = value[:i], value[i+1:]
		}
		for _, file := range []string{"default", "everything"} {
			values := deepCopy(files[file]).(map[string]any)
			mapping := values
			for name := range strings.SplitSeq(inner, ".") {
				if name == "" {
					continue
				}
				if mapping[name] == nil {
					mapping[name] = map[string]any{}
				}
				mapping = mapping[name].(map[string]any)
			}
			mapping[key] = nil
			_, err := template(t, values)
			if err != nil && !strings.Contains(err.Error(), "the specifications of the schema") && !strings.Contains(err.Error(), "do not go together") {
				t.Errorf("%s with %s=null: %v, want that it renders or is refused with a reason", file, value, err)
			}
		}
	}
}

func deepCopy(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			out[key] = deepCopy(inner)
		}
		return out
	default:
		return v
	}
}

func lookup(values map[string]any, path string) bool {
	var inner any = values
	for key := range strings.SplitSeq(path, ".") {
		m, ok := inner.(map[string]any)
		if !ok {
			return false
		}
		if inner, ok = m[key]; !ok {
			return false
		}
	}
	return true
}
