package release

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pages are those that a release hands to its users.
var pages = []string{"docs/release.md", "docs/security.md", "docs/versioning.md", "docs/multi-cluster.md", "docs/comparison.md"}

func TestTheSecurityPageNamesEachPermission(t *testing.T) {
	page := read(t, "docs/security.md")
	permissions := 0
	for doc := range strings.SplitSeq(read(t, "config/rbac/role.yaml"), "\n---\n") {
		var role struct {
			Rules []struct{ Resources, Verbs []string }
		}
		if err := yaml.Unmarshal([]byte(doc), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				permissions++
				named := "`" + resource + "`"
				if resource == "configmaps" || resource == "leases" { // in words, since they are held to a name
					named = map[string]string{"configmaps": "the ConfigMap that", "leases": "Leases"}[resource]
				}
				if !strings.Contains(page, named) {
					t.Errorf("docs/security.md does not say why the operator may %v %s", rule.Verbs, resource)
				}
			}
		}
	}
	if permissions < 8 {
		t.Errorf("config/rbac/role.yaml has %d permissions: is it read right?", permissions)
	}
}

func TestThePagesNameValuesThatTheChartHas(t *testing.T) {
	var values map[string]any
	if err := yaml.Unmarshal([]byte(read(t, chartFolder+"/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile("`([a-zA-Z]+(?:\\.[a-zA-Z]+)+)(?:=[^`]*)?`")
	found := 0
	for _, page := range pages {
		for _, match := range word.FindAllStringSubmatch(read(t, page), -1) {
			path := strings.Split(strings.TrimSuffix(match[1], ".json"), ".") // inventory.json is a key of the ConfigMap
			if _, ok := values[path[0]].(map[string]any); !ok {
				continue // not a value of ours
			}
			found++
			var value any = values
			for _, key := range path {
				level, _ := value.(map[string]any)
				var ok bool
				if value, ok = level[key]; !ok {
					t.Errorf("%s names %s, and the chart has no %s", page, match[1], key)
					break
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("the pages name %d values: are they read right?", found)
	}
}

func TestThePagesNameMetricsThatThereAre(t *testing.T) {
	known := read(t, "docs/metrics.md") // which is compared with what the operator exposes
	metric := regexp.MustCompile(`\bgpu_inventory_[a-z_]*[a-z]`)
	found := 0
	for _, page := range pages {
		for _, name := range metric.FindAllString(read(t, page), -1) {
			if found++; name != "gpu_inventory_node" && !strings.Contains(known, "`"+name+"`") {
				t.Errorf("%s names %s, which is not in docs/metrics.md", page, name)
			}
		}
	}
	if found < 10 {
		t.Errorf("the pages name %d metrics: are they read right?", found)
	}
}

func TestUsersVerifyWhatTheWorkflowSigns(t *testing.T) {
	page, workflow := read(t, "docs/release.md"), read(t, ".github/workflows/release.yaml")
	for _, want := range []string{
		publicRegistry + "/" + imageName, publicRegistry + "/charts/" + chartName, oidcIssuer,
		sourceURL + "/.github/workflows/release.yaml@refs/tags/v",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/release.md lacks %s", want)
		}
	}
	for _, want := range []string{
		"subject-name: " + publicRegistry + "/" + imageName + "\n", "subject-name: " + publicRegistry + "/charts/" + chartName + "\n",
		"steps.release.outputs.image", "steps.release.outputs.chart", "id-token: write", `--identity "$GITHUB_SERVER_URL/$GITHUB_WORKFLOW_REF"`,
	} {
		if !strings.Contains(workflow, want) {
			t.Errorf("release.yaml lacks %q", want)
		}
	}
}
