package alerts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const (
	chartDir   = "../../charts/gpu-inventory-operator"
	rulesFile  = chartDir + "/files/alerts/rules.yaml"
	runbookDir = "../../docs/runbooks"
)

type ruleFile struct {
	Groups []ruleGroup `json:"groups"`
}

type ruleGroup struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// String tells rules of the same alert apart.
func (r rule) String() string {
	return fmt.Sprintf("%s (%s, %s)", r.Alert, r.Labels["scope"], r.Labels["severity"])
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func readRules(t *testing.T) ruleFile {
	t.Helper()
	var f ruleFile
	readYAML(t, rulesFile, &f)
	return f
}

func allRules(t *testing.T) (out []rule) {
	t.Helper()
	for _, g := range readRules(t).Groups {
		out = append(out, g.Rules...)
	}
	return out
}

func alertNames(t *testing.T) (out []string) {
	t.Helper()
	for _, r := range allRules(t) {
		out = append(out, r.Alert)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestRulesUseWhatIsExposed(t *testing.T) {
	e := newExposed(t)
	for _, r := range allRules(t) {
		for _, wrong := range e.check(r.Expr) {
			t.Errorf("%s: expr: %s", r, wrong)
		}
	}
}

var (
	queried   = regexp.MustCompile(`printf "([^"]+)"[^|]*\| query`)
	labelUsed = regexp.MustCompile(`\$labels\.(\w+)`)
	labelRead = regexp.MustCompile(`(?:label "|\.Labels\.)(\w+)`)
)

func TestAnnotationsUseWhatIsThere(t *testing.T) {
	e := newExposed(t)
	for _, r := range allRules(t) {
		used, err := parsePromQL(r.Expr)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range r.Annotations {
			for _, l := range labelUsed.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(used.Groupings, l[1]) {
					t.Errorf("%s: %s uses $labels.%s, which the alert does not have", r, name, l[1])
				}
			}
			queries := queried.FindAllStringSubmatch(text, -1)
			if len(queries) != strings.Count(text, "| query") {
				t.Errorf("%s: %s has a query that this test cannot read", r, name)
			}
			for _, q := range queries {
				expr := strings.ReplaceAll(q[1], "%q", `""`)
				for _, wrong := range e.check(expr) {
					t.Errorf("%s: %s asks for %s: %s", r, name, q[1], wrong)
				}
				asked, err := parsePromQL(expr)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range labelRead.FindAllStringSubmatch(text, -1) {
					if !slices.Contains(e.labels[asked.Selectors[0].Metric], l[1]) {
						t.Errorf("%s: %s reads the label %s, which the answer to %s does not have", r, name, l[1], q[1])
					}
				}
			}
		}
	}
}

func TestRulesDoNotDependOnTheReplica(t *testing.T) {
	for _, r := range allRules(t) {
		if strings.Contains(r.Expr, "pod") || strings.Contains(r.Expr, "instance") || strings.Contains(r.Expr, "without") {
			t.Errorf("%s: a failover changes pod and instance, which the expression must aggregate away:\n%s", r, r.Expr)
		}
	}
}

func TestRulesSayWhatWasSeenAndWhatToDo(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range allRules(t) {
		if seen[r.String()] {
			t.Errorf("%s is there twice", r)
		}
		seen[r.String()] = true
		if r.For == "" {
			t.Errorf("%s: no for", r)
		}
		if !slices.Contains([]string{"warning", "critical"}, r.Labels["severity"]) {
			t.Errorf("%s: severity is neither warning nor critical", r)
		}
		if !slices.Contains([]string{"node", "pool", "inventory", "fleet", "operator"}, r.Labels["scope"]) {
			t.Errorf("%s: scope is not one that docs/runbooks/README.md explains", r)
		}
		if s := r.Annotations["summary"]; s == "" || len(s) > 120 {
			t.Errorf("%s: summary is missing or long: %q", r, s)
		}
		if d := r.Annotations["description"]; !strings.Contains(d, "`kubectl ") {
			t.Errorf("%s: description has no command: %q", r, d)
		}
		if len(r.Annotations) != 2 {
			t.Errorf("%s: annotations other than summary and description", r)
		}
	}
}

func TestGroupsAreThoseOfTheChart(t *testing.T) {
	var got []string
	for _, g := range readRules(t).Groups {
		got = append(got, g.Name)
	}
	want := []string{"gpu-inventory.nodes", "gpu-inventory.fleet", "gpu-inventory.operator"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// promtoolTest is a file of promtool test rules, as far as it is looked at here.
type promtoolTest struct {
	RuleFiles []string `json:"rule_files"`
	Tests     []struct {
		Name           string `json:"name"`
		AlertRuleTests []struct {
			Alertname string `json:"alertname"`
			ExpAlerts []struct {
				ExpLabels map[string]string `json:"exp_labels"`
			} `json:"exp_alerts"`
		} `json:"alert_rule_test"`
		InputSeries []struct {
			Series string `json:"series"`
		} `json:"input_series"`
	} `json:"tests"`
}

func readPromtoolTests(t *testing.T) map[string]promtoolTest {
	t.Helper()
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]promtoolTest{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f promtoolTest
		if err := yaml.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out[strings.TrimSuffix(file, ".yaml")] = f
	}
	return out
}

func TestEachAlertHasATestForFiringAndOneForNot(t *testing.T) {
	fires, quiet := map[string]bool{}, map[string]bool{}
	tests := readPromtoolTests(t)
	for file, f := range tests {
		if diff := cmp.Diff([]string{rulesFile}, f.RuleFiles); diff != "" {
			t.Errorf("%s.yaml: rule_files (-want +got):\n%s", file, diff)
		}
		for _, test := range f.Tests {
			for _, a := range test.AlertRuleTests {
				if len(a.ExpAlerts) == 0 {
					quiet[a.Alertname] = true
				}
				for _, exp := range a.ExpAlerts {
					fires[rule{Alert: a.Alertname, Labels: exp.ExpLabels}.String()] = true
				}
			}
		}
	}
	for _, r := range allRules(t) {
		if !fires[r.String()] {
			t.Errorf("%s: no test expects it to fire", r)
		}
		if !quiet[r.Alert] {
			t.Errorf("%s: no test expects it not to fire", r)
		}
	}
	for _, name := range alertNames(t) {
		if _, ok := tests[name]; !ok {
			t.Errorf("there is no %s.yaml", name)
		}
	}
}

func TestPromtoolTestsUseWhatIsExposed(t *testing.T) {
	e := newExposed(t)
	e.labels["up"] = []string{"job"}
	for file, f := range readPromtoolTests(t) {
		for _, test := range f.Tests {
			for _, s := range test.InputSeries {
				for _, wrong := range e.check(s.Series) {
					t.Errorf("%s.yaml: %s: %s: %s", file, test.Name, s.Series, wrong)
				}
			}
		}
	}
}
