package alerts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
)

// targetLabels are those that Prometheus adds to what it scrapes. No rule may depend on one but cluster, which may be absent.
var targetLabels = []string{"cluster", "pod", "instance"}

// exposed checks expressions against what the operator exposes.
type exposed struct {
	labels map[string][]string // by metric
	values map[string][]string // by label, for labels with a closed list of values
}

func newExposed(t *testing.T) exposed {
	t.Helper()
	e := exposed{labels: map[string][]string{}, values: map[string][]string{
		"reason":     append(constants(t, "Reason"), "unknown"),
		"warning":    constants(t, "Warning"),
		"condition":  {v1.ConditionHealthy, v1.ConditionComplete, v1.ConditionAsExpected},
		"status":     {"True", "False", "Unknown"},
		"controller": {metrics.ControllerGpuInventory, metrics.ControllerConfigMap},
		"output":     {metrics.OutputStatus, metrics.OutputConfigMap},
		"result":     {metrics.ResultSuccess, metrics.ResultUnchanged, metrics.ResultConflict, metrics.ResultError},
	}}
	for _, f := range metrics.Families() {
		e.labels[f.Name] = f.Labels
	}
	return e
}

// constants are the values of the API's constants of a type.
func constants(t *testing.T, typeName string) (out []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../api/v1/conditions.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == typeName {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, value)
		}
		return true
	})
	if len(out) < 10 {
		t.Fatalf("found %d constants of the type %s: they have moved", len(out), typeName)
	}
	return out
}

// check returns what is wrong with an expression.
func (e exposed) check(expr string) (wrong []string) {
	used, err := parsePromQL(expr)
	if err != nil {
		return []string{err.Error()}
	}
	if len(used.Selectors) == 0 {
		return []string{"it uses no metric"}
	}
	all := slices.Clone(targetLabels)
	for _, s := range used.Selectors {
		labels, ok := e.labels[s.Metric]
		if !ok {
			wrong = append(wrong, s.Metric+" is not exposed")
			continue
		}
		all = append(all, labels...)
		for _, m := range s.Matchers {
			wrong = append(wrong, e.checkMatcher(s.Metric, append(slices.Clone(labels), targetLabels...), m)...)
		}
	}
	for _, g := range used.Groupings {
		if !slices.Contains(all, g) {
			wrong = append(wrong, "no metric of it has the label "+g)
		}
	}
	return wrong
}

func (e exposed) checkMatcher(metric string, labels []string, m matcher) (wrong []string) {
	if !slices.Contains(labels, m.Label) {
		wrong = append(wrong, metric+" has no label "+m.Label)
	}
	if closed, ok := e.values[m.Label]; ok {
		for _, v := range m.values() {
			if !slices.Contains(closed, v) {
				wrong = append(wrong, m.Label+" is never "+v)
			}
		}
	}
	return wrong
}

func TestWhatIsNotExposedIsFound(t *testing.T) {
	e := newExposed(t)
	cases := map[string]struct{ expr, want string }{
		"all is exposed":      {expr: `sum by (cluster, reason) (gpu_inventory_not_ready_nodes{inventory="x",reason=~"NodeNotReady|MIGInvalid"})`},
		"a metric":            {expr: "gpu_inventory_typo > 0", want: "gpu_inventory_typo is not exposed"},
		"a label":             {expr: `gpu_inventory_nodes{node="a"}`, want: "gpu_inventory_nodes has no label node"},
		"a label to group by": {expr: "sum by (nod) (gpu_inventory_node_ready)", want: "no metric of it has the label nod"},
		"a reason":            {expr: `gpu_inventory_not_ready_nodes{reason!~"NodeNotReady|Typo"}`, want: "reason is never Typo"},
		"no metric at all":    {expr: "vector(1)", want: "it uses no metric"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(e.check(tc.expr), "; "); got != tc.want {
				t.Errorf("check(%s) = %q, want %q", tc.expr, got, tc.want)
			}
		})
	}
}
