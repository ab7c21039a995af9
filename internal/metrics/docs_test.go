package metrics

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

// shape is what the documentation says of a metric and the exposition shows.
type shape struct {
	Type   string
	Labels []string
}

func TestDocumentationListsWhatIsExposed(t *testing.T) {
	documented, exposed := documentedMetrics(t), exposedMetrics(t)
	if diff := cmp.Diff(exposed, documented); diff != "" {
		t.Errorf("docs/metrics.md differs from what the operator exposes (-exposed +documented):\n%s", diff)
	}
}

func TestFamiliesListWhatIsExposed(t *testing.T) {
	got := map[string]shape{}
	for _, f := range Families() {
		got[f.Name] = shape{string(f.Type), f.Labels}
	}
	if diff := cmp.Diff(exposedMetrics(t), got); diff != "" {
		t.Errorf("Families() differs from what the operator exposes (-exposed +listed):\n%s", diff)
	}
	if names := Families(); !slices.IsSortedFunc(names, func(a, b Family) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("Families() is not sorted by name")
	}
}

// exposedMetrics gathers everything after everything has happened once.
func exposedMetrics(t *testing.T) map[string]shape {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	r, err := NewRecorder(reg, BuildInfo{}, func() bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	r.Succeeded(time.Unix(1, 0))
	r.Size(OutputStatus, 1)
	if err := reg.Register(textOf{collectorOf(stateOf(smallFleet()))}); err != nil {
		t.Fatal(err)
	}
	held := holders.Held{"a": {"nvidia.com/gpu": 1}}
	if err := reg.Register(Namespaces{Held: func() (holders.Held, bool) { return held, true }}); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]shape{}
	for _, f := range families {
		s := shape{Type: strings.ToLower(f.GetType().String())}
		for _, l := range f.GetMetric()[0].GetLabel() {
			s.Labels = append(s.Labels, l.GetName())
		}
		out[f.GetName()] = s
	}
	return out
}

// documentedMetrics reads the rows of the tables in docs/metrics.md.
func documentedMetrics(t *testing.T) map[string]shape {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("`([^`]+)`")
	out := map[string]shape{}
	for line := range strings.Lines(string(text)) {
		columns := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		name := code.FindStringSubmatch(columns[0])
		if !strings.HasPrefix(line, "| `") || name == nil {
			continue
		}
		if len(columns) != 6 || slices.ContainsFunc([]int{3, 4, 5}, func(i int) bool { return strings.TrimSpace(columns[i]) == "" }) {
			t.Errorf("want name, type, labels, unit, meaning and absence in the row %s", line)
			continue
		}
		if _, twice := out[name[1]]; twice {
			t.Errorf("%s is documented twice", name[1])
		}
		s := shape{Type: strings.TrimSpace(columns[1])}
		for _, l := range code.FindAllStringSubmatch(columns[2], -1) {
			s.Labels = append(s.Labels, l[1])
		}
		out[name[1]] = s
	}
	return out
}

func TestDocumentationNamesTheLimitOfProducts(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	s := &v1.GpuInventoryStatus{Products: make([]v1.ProductSummary, maxProducts+1)}
	for i := range s.Products {
		s.Products[i] = v1.ProductSummary{Product: strings.Repeat("x", i+1), Gpus: new(int32(1))}
	}
	got := series(gather(t, collectorOf(State{Inventories: map[string]*v1.GpuInventoryStatus{"a": s}}))...)
	if len(got) != maxProducts+1 || !strings.Contains(string(text), "at most 500 products apart") {
		t.Errorf("%d products told apart, and others together; docs/metrics.md says 500", len(got)-1)
	}
}
