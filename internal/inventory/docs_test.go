package inventory

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocumentationListsTheConstantsOfTheAPI(t *testing.T) {
	constants := apiConstants(t)
	text, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		prefix string
		except []string // further prefixes, of another kind
		header string   // of the table
	}{
		"conditions":        {prefix: "Condition", except: []string{"ConditionReason"}, header: "| Condition |"},
		"condition reasons": {prefix: "ConditionReason", header: "| Reason |"},
		"Events":            {prefix: "Event", header: "| Event |"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var want []string
			for constant, value := range constants {
				other := slices.ContainsFunc(tc.except, func(p string) bool { return strings.HasPrefix(constant, p) })
				if strings.HasPrefix(constant, tc.prefix) && !other {
					want = append(want, value)
				}
			}
			slices.Sort(want)
			if len(want) == 0 {
				t.Fatalf("api/v1 has no constants %s...", tc.prefix)
			}
			if diff := cmp.Diff(want, firstColumn(string(text), tc.header)); diff != "" {
				t.Errorf("docs/events.md (-api +documented):\n%s", diff)
			}
		})
	}
}

// TestDocumentationHasTheTypesOfEvents compares the second column with what Changes gives.
func TestDocumentationHasTheTypesOfEvents(t *testing.T) {
	text, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]string{}
	source, err := os.ReadFile("changes.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(normal|warning)\(v1\.Event(\w+)`).FindAllStringSubmatch(string(source), -1) {
		given[m[2]] = map[string]string{"normal": "Normal", "warning": "Warning"}[m[1]]
	}
	documented := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (Normal|Warning) \\|").FindAllStringSubmatch(string(text), -1) {
		documented[m[1]] = m[2]
	}
	if diff := cmp.Diff(given, documented); diff != "" {
		t.Errorf("docs/events.md (-given +documented):\n%s", diff)
	}
}

// apiConstants are the string constants of api/v1 by name.
func apiConstants(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../api/v1/conditions.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, value := range spec.Values {
			literal, ok := value.(*ast.BasicLit)
			if !ok {
				continue
			}
			s, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			out[spec.Names[i].Name] = s
		}
		return true
	})
	return out
}

// firstColumn is what is in code font at the start of a table's rows, sorted.
func firstColumn(text, header string) (out []string) {
	_, rest, _ := strings.Cut(text, "\n"+header)
	for line := range strings.Lines(rest) {
		if line == "\n" {
			break
		}
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "`"); ok && strings.HasPrefix(line, "| `") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
