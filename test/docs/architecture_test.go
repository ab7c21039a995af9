package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root         = "../.."
	module       = "github.com/gpu-inventory/gpu-inventory-operator/"
	architecture = "docs/architecture.md"
)

// notDescribed are the folders of the top level that docs/architecture.md does not list: the first three have a row for each
// folder in them, bin is what a build leaves.
var notDescribed = []string{"api", "cmd", "internal", "bin"}

func TestTheArchitectureNamesEveryFolder(t *testing.T) {
	named := append(folders(t, "layers", 1), folders(t, "folders", 0)...)
	for _, folder := range named {
		if info, err := os.Stat(filepath.Join(root, folder)); err != nil || !info.IsDir() {
			t.Errorf("%s names %s, which is not a folder", architecture, folder)
		}
	}
	required := slices.DeleteFunc(subfolders(t, "."), func(name string) bool {
		return strings.HasPrefix(name, ".") || slices.Contains(notDescribed, name)
	})
	for _, parent := range []string{"api", "cmd", "internal"} {
		required = append(required, subfolders(t, parent)...)
	}
	for _, folder := range required {
		if !slices.Contains(named, folder) {
			t.Errorf("%s does not name %s", architecture, folder)
		}
	}
}

func TestImportsPointToLowerLayers(t *testing.T) {
	layers := map[string]int{}
	for _, cells := range table(t, "layers") {
		layer, err := strconv.Atoi(cells[0])
		if err != nil {
			t.Fatalf("%s: layer of %s: %v", architecture, cells[1], err)
		}
		layers[folderIn(t, cells[1])] = layer
	}
	for _, i := range imports(t) {
		from, to := owner(layers, filepath.Dir(i.file)), owner(layers, i.path)
		if from == "" || to == "" || from == to {
			continue // no layer: the other test finds a folder that is missing
		}
		if layers[to] >= layers[from] {
			t.Errorf("%s imports %s: %s is in layer %d and %s in layer %d, see %s",
				i.file, i.path, from, layers[from], to, layers[to], architecture)
		}
	}
}

// imported is an import of a package of this module.
type imported struct{ file, path string }

// imports returns the imports of all files of the program; tests may import what they like.
func imports(t *testing.T) []imported {
	t.Helper()
	var out []imported
	for _, parent := range []string{"api", "cmd", "internal"} {
		err := fs.WalkDir(os.DirFS(root), parent, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range file.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				if path, ours := strings.CutPrefix(path, module); ours {
					out = append(out, imported{file: name, path: path})
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(out) == 0 {
		t.Fatal("no imports found")
	}
	return out
}

// owner returns the folder with a layer that a path is in, or "".
func owner(layers map[string]int, path string) string {
	for ; path != "."; path = filepath.Dir(path) {
		if _, ok := layers[path]; ok {
			return path
		}
	}
	return ""
}

// subfolders returns the folders in a folder, with their path from the root.
func subfolders(t *testing.T, parent string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, parent))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(parent, e.Name()))
		}
	}
	return out
}

// folders returns the folders in a column of a table of docs/architecture.md.
func folders(t *testing.T, name string, column int) []string {
	t.Helper()
	var out []string
	for _, cells := range table(t, name) {
		out = append(out, folderIn(t, cells[column]))
	}
	return out
}

func folderIn(t *testing.T, cell string) string {
	t.Helper()
	folder := strings.Trim(cell, "`")
	if "`"+folder+"`" != cell {
		t.Fatalf("%s: %q is not the name of a folder", architecture, cell)
	}
	return folder
}

// table returns the rows of the table between the markers that name it.
func table(t *testing.T, name string) [][]string {
	t.Helper()
	_, rest, _ := strings.Cut(read(t, architecture), "<!-- "+name+":begin -->\n")
	text, _, ok := strings.Cut(rest, "<!-- "+name+":end -->")
	if !ok {
		t.Fatalf("%s has no table %s", architecture, name)
	}
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[2:] {
		rows = append(rows, regexp.MustCompile(` *\| *`).Split(line, -1)[1:])
	}
	return rows
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
