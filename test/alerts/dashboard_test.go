package alerts

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

const dashboardFile = chartDir + "/files/dashboards/gpu-inventory.json"

// dashboard is Grafana's, as far as it is looked at here.
type dashboard struct {
	UID           string  `json:"uid"`
	Title         string  `json:"title"`
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []panel `json:"panels"`
	Templating    struct {
		List []struct {
			Name       string `json:"name"`
			Type       string `json:"type"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
}

type panel struct {
	ID          int        `json:"id"`
	Type        string     `json:"type"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Datasource  datasource `json:"datasource"`
	GridPos     gridPos    `json:"gridPos"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	Targets []struct {
		Datasource datasource `json:"datasource"`
		Expr       string     `json:"expr"`
		RefID      string     `json:"refId"`
	} `json:"targets"`
}

type datasource struct {
	UID string `json:"uid"`
}

type gridPos struct{ X, Y, W, H int }

func (a gridPos) overlaps(b gridPos) bool {
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("%s: %v", dashboardFile, err)
	}
	if len(d.Panels) == 0 || d.UID == "" || d.Title == "" || d.SchemaVersion == 0 {
		t.Fatalf("%s is no dashboard", dashboardFile)
	}
	return d
}

func TestDashboardUsesWhatIsExposed(t *testing.T) {
	e := newExposed(t)
	used := map[string]bool{}
	for _, p := range readDashboard(t).Panels {
		if len(p.Targets) == 0 {
			t.Errorf("panel %q asks for nothing", p.Title)
		}
		for _, target := range p.Targets {
			for _, wrong := range e.check(target.Expr) {
				t.Errorf("panel %q: %s: %s", p.Title, target.Expr, wrong)
			}
			used[target.Expr] = true
		}
	}
	if len(used) < len(readDashboard(t).Panels) {
		t.Errorf("%d expressions in %d panels", len(used), len(readDashboard(t).Panels))
	}
}

func TestDashboardVariablesUseWhatIsExposed(t *testing.T) {
	e := newExposed(t)
	query := regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
	names := map[string]bool{}
	for _, v := range readDashboard(t).Templating.List {
		names[v.Name] = true
		if v.Type != "query" {
			continue
		}
		m := query.FindStringSubmatch(v.Definition)
		if m == nil {
			t.Errorf("variable %s: this test cannot read %q", v.Name, v.Definition)
			continue
		}
		for _, wrong := range e.check("sum by (" + m[2] + ") (" + m[1] + ")") {
			t.Errorf("variable %s: %s: %s", v.Name, v.Definition, wrong)
		}
	}
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\$\{?([a-z]\w*)`).FindAllStringSubmatch(string(text), -1) {
		if !names[m[1]] {
			t.Errorf("the variable %s is used and not there", m[1])
		}
	}
	if !names["datasource"] || !names["inventory"] {
		t.Errorf("variables %v, want datasource and inventory among them", names)
	}
}

func TestDashboardPanelsAreInOrder(t *testing.T) {
	panels := readDashboard(t).Panels
	ids := map[int]string{}
	for i, p := range panels {
		if other, twice := ids[p.ID]; twice || p.ID == 0 {
			t.Errorf("panels %q and %q have the id %d", other, p.Title, p.ID)
		}
		ids[p.ID] = p.Title
		if p.Title == "" || !strings.HasSuffix(p.Description, ".") {
			t.Errorf("panel %q has no title or no description: %q", p.Title, p.Description)
		}
		if p.FieldConfig.Defaults.Unit == "" {
			t.Errorf("panel %q has no unit", p.Title)
		}
		if g := p.GridPos; g.W <= 0 || g.H <= 0 || g.X < 0 || g.Y < 0 || g.X+g.W > 24 {
			t.Errorf("panel %q is at %+v, outside of the page", p.Title, g)
		}
		for _, o := range panels[:i] {
			if p.GridPos.overlaps(o.GridPos) {
				t.Errorf("panels %q and %q overlap", p.Title, o.Title)
			}
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if target.Datasource.UID != "${datasource}" || p.Datasource.UID != "${datasource}" {
				t.Errorf("panel %q does not use the variable datasource", p.Title)
			}
			if refs[target.RefID] || target.RefID == "" {
				t.Errorf("panel %q has two targets %q", p.Title, target.RefID)
			}
			refs[target.RefID] = true
		}
	}
}
