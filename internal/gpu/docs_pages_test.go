package gpu

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The overview of how nodes are recognised, and the pages below it.
const (
	docsOverview = "../../docs/recognition.md"
	docsFolder   = "../../docs/recognition"
)

// docPages returns the file names of the pages below the overview, without folders.
func docPages(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(docsFolder, "*.md"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("found %d pages in %s: %v", len(paths), docsFolder, err)
	}
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	return paths
}

// docText returns the text of a page.
func docText(t *testing.T, page string) string {
	t.Helper()
	path := filepath.Join(docsFolder, page)
	if page == filepath.Base(docsOverview) {
		path = docsOverview
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// docTables returns the tables of a page: heading -> tables -> rows -> columns, headers left out.
func docTables(t *testing.T, page string) map[string][][][]string {
	t.Helper()
	out, heading, inside := map[string][][][]string{}, "", false
	for line := range strings.Lines(docText(t, page)) {
		line = strings.TrimSpace(line)
		if h := strings.TrimLeft(line, "#"); h != line {
			heading = strings.TrimSpace(h)
		}
		row := strings.Split(strings.Trim(line, "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		switch isRow := strings.HasPrefix(line, "|"); {
		case !isRow:
			inside = false
		case !inside:
			inside = true
			out[heading] = append(out[heading], nil)
		case strings.HasPrefix(line, "|---"):
		default:
			last := len(out[heading]) - 1
			out[heading][last] = append(out[heading][last], row)
		}
	}
	return out
}

// docTable returns the n-th table under a heading of a page.
func docTable(t *testing.T, page, heading string, n int) [][]string {
	t.Helper()
	tables := docTables(t, page)[heading]
	if n >= len(tables) || len(tables[n]) == 0 {
		t.Fatalf("%s has no table %d under %q", page, n, heading)
	}
	return tables[n]
}

var quoted = regexp.MustCompile("`([^`]+)`")

// code returns what a text has in backticks.
func code(text string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// firsts returns the only thing in backticks in the first column of every row, in order.
func firsts(t *testing.T, rows [][]string) []string {
	t.Helper()
	var out []string
	for _, row := range rows {
		c := code(row[0])
		if len(c) != 1 || slices.Contains(out, c[0]) {
			t.Errorf("the row %q has not one name in its first column, or one that is there already", row)
			continue
		}
		out = append(out, c[0])
	}
	return out
}

func documents(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: docs/recognition differs from the code (-code +documented):\n%s", what, diff)
	}
}

// sources returns the files of a package, tests left out.
func sources(t *testing.T, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// constants returns the values of a package's string constants of a type, sorted.
func constants(t *testing.T, dir, typeName string) []string {
	t.Helper()
	var out []string
	for _, f := range sources(t, dir) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if id, typed := specType(spec, ok); typed && id == typeName {
				if s, ok := literal(spec.Values[0]); ok {
					out = append(out, s)
				}
			}
			return true
		})
	}
	slices.Sort(out)
	if len(out) == 0 {
		t.Fatalf("%s has no constants of type %s", dir, typeName)
	}
	return out
}

func specType(spec *ast.ValueSpec, ok bool) (string, bool) {
	if !ok || len(spec.Values) != 1 {
		return "", false
	}
	id, typed := spec.Type.(*ast.Ident)
	if !typed {
		return "", false
	}
	return id.Name, true
}

// stringConstants returns this package's string constants whose names start with a prefix, by name.
func stringConstants(t *testing.T, prefix string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range sources(t, ".") {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if ok && len(spec.Values) == 1 && strings.HasPrefix(spec.Names[0].Name, prefix) {
				if s, ok := literal(spec.Values[0]); ok {
					out[spec.Names[0].Name] = s
				}
			}
			return true
		})
	}
	return out
}

func literal(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}
