package alerts

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func readRunbook(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(runbookDir, name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEachAlertHasARunbookAndTheOtherWayRound(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(runbookDir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".md"); name != "README" {
			pages = append(pages, name)
		}
	}
	slices.Sort(pages)
	if diff := cmp.Diff(alertNames(t), pages); diff != "" {
		t.Errorf("docs/runbooks (-alerts +pages):\n%s", diff)
	}
}

func TestRunbooksHaveTheirSections(t *testing.T) {
	want := []string{"## Meaning", "## Impact", "## Diagnosis", "## Mitigation", "## False alarms"}
	for _, name := range alertNames(t) {
		text := readRunbook(t, name)
		got := regexp.MustCompile(`(?m)^## .*$`).FindAllString(text, -1)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s.md: sections (-want +got):\n%s", name, diff)
		}
		if !strings.HasPrefix(text, "# "+name+"\n") {
			t.Errorf("%s.md does not begin with its name", name)
		}
		if !strings.Contains(text, "kubectl ") {
			t.Errorf("%s.md has no command", name)
		}
	}
}

func TestRunbooksNameEveryReasonOfTheirAlert(t *testing.T) {
	pages := readRunbook(t, "GPUNodeNotReady") + readRunbook(t, "GPUStackStuck")
	for _, reason := range constants(t, "Reason") {
		if reason != "OK" && !strings.Contains(pages, "`"+reason+"`") {
			t.Errorf("neither GPUNodeNotReady.md nor GPUStackStuck.md says what to do for %s", reason)
		}
	}
}

func TestIndexOfRunbooksSaysWhatTheRulesSay(t *testing.T) {
	row := regexp.MustCompile(`(?m)^\| \[(\w+)\]\((\w+)\.md\) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$`)
	type line struct{ Severities, After []string }
	got := map[string]line{}
	for _, m := range row.FindAllStringSubmatch(readRunbook(t, "README"), -1) {
		if m[1] != m[2] {
			t.Errorf("%s links to %s", m[1], m[2])
		}
		got[m[1]] = line{strings.Split(m[3], ", "), strings.Split(strings.ReplaceAll(m[4], " ", ""), ",")}
	}
	want := map[string]line{}
	for _, r := range allRules(t) {
		l := want[r.Alert]
		if !slices.Contains(l.Severities, r.Labels["severity"]) {
			l.Severities = append(l.Severities, r.Labels["severity"])
			l.After = append(l.After, r.For)
		}
		if !slices.Contains(l.After, r.For) {
			t.Errorf("%s waits %s, which the index cannot say", r, r.For)
		}
		want[r.Alert] = l
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/runbooks/README.md (-rules +documented):\n%s", diff)
	}
}

// inhibitRule is one of Alertmanager's.
type inhibitRule struct {
	SourceMatchers []string `json:"source_matchers"`
	TargetMatchers []string `json:"target_matchers"`
	Equal          []string `json:"equal"`
}

// inhibits says what Alertmanager does: source and target match, and are equal in the labels of equal, of which an absent
// one is an empty one. An alert that matches both sides is not inhibited by another such alert.
func (r inhibitRule) inhibits(t *testing.T, source, target map[string]string) bool {
	t.Helper()
	if !matchesAll(t, r.SourceMatchers, source) || !matchesAll(t, r.TargetMatchers, target) {
		return false
	}
	if matchesAll(t, r.TargetMatchers, source) && matchesAll(t, r.SourceMatchers, target) {
		return false
	}
	return !slices.ContainsFunc(r.Equal, func(l string) bool { return source[l] != target[l] })
}

func matchesAll(t *testing.T, matchers []string, labels map[string]string) bool {
	t.Helper()
	for _, text := range matchers {
		used, err := parsePromQL("x{" + text + "}")
		if err != nil || len(used.Selectors[0].Matchers) != 1 {
			t.Fatalf("matcher %s: %v", text, err)
		}
		m := used.Selectors[0].Matchers[0]
		switch m.Op {
		case "=":
			if labels[m.Label] != m.Value {
				return false
			}
		case "=~":
			if !regexp.MustCompile("^(?:" + m.Value + ")$").MatchString(labels[m.Label]) {
				return false
			}
		default:
			t.Fatalf("matcher %s: this test does not know %s", text, m.Op)
		}
	}
	return true
}

func readInhibitRules(t *testing.T) []inhibitRule {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readRunbook(t, "README"), -1) {
		var config struct {
			InhibitRules []inhibitRule `json:"inhibit_rules"`
		}
		if err := yaml.Unmarshal([]byte(block[1]), &config); err != nil {
			t.Fatalf("docs/runbooks/README.md: %v\n%s", err, block[1])
		}
		if len(config.InhibitRules) > 0 {
			return config.InhibitRules
		}
	}
	t.Fatal("docs/runbooks/README.md has no inhibit_rules")
	return nil
}

// firing are the labels of every alert that a test of promtool expects, with the alert's name.
func firing(t *testing.T) (out []map[string]string) {
	t.Helper()
	for _, f := range readPromtoolTests(t) {
		for _, test := range f.Tests {
			for _, a := range test.AlertRuleTests {
				for _, exp := range a.ExpAlerts {
					exp.ExpLabels["alertname"] = a.Alertname
					out = append(out, exp.ExpLabels)
				}
			}
		}
	}
	return out
}

// TestInhibitionIsAsDocumented plays the documented rules on the labels that the alerts really have.
func TestInhibitionIsAsDocumented(t *testing.T) {
	rules := readInhibitRules(t)
	inhibited := func(source, target map[string]string) bool {
		return slices.ContainsFunc(rules, func(r inhibitRule) bool { return r.inhibits(t, source, target) })
	}
	alerts := firing(t)
	met := 0
	for _, source := range alerts {
		for _, target := range alerts {
			sameNode := source["alertname"] == "GPUNodeNotReady" && source["scope"] == "node" && target["scope"] == "node" && target["alertname"] != "GPUNodeNotReady"
			sameFleet := source["alertname"] == "GPUFleetDegraded" && target["alertname"] == "GPUFleetDegraded" && source["severity"] == "critical" && target["severity"] == "warning"
			want := sameNode || sameFleet // all tests are about the node n1
			if got := inhibited(source, target); got != want {
				t.Errorf("%v inhibits %v: %v, want %v", source, target, got, want)
			}
			if want {
				met++
			}
			for _, label := range []string{"node", "cluster"} {
				elsewhere := maps.Clone(target)
				elsewhere[label] = "elsewhere"
				if sameNode && inhibited(source, elsewhere) {
					t.Errorf("%v inhibits %v of another %s", source, elsewhere, label)
				}
			}
		}
	}
	if met < 5 {
		t.Errorf("%d pairs are inhibited, want each alert of a node and the fleet", met)
	}
}
