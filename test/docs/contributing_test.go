package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// step is one instruction of the example in CONTRIBUTING.md, with the block of code that follows it.
type step struct{ file, table, block string }

var (
	fence      = regexp.MustCompile("(?ms)^```\\w+\n(.*?)^```$")
	createFile = regexp.MustCompile("Create `([^`]+)`:\\s*$")
	addRows    = regexp.MustCompile("Add to the table \"([^\"]+)\" in `([^`]+)`:\\s*$")
	thenRun    = regexp.MustCompile(`Then run:\s*$`)
)

func TestTheExampleOfANewVendorWorks(t *testing.T) {
	root := copyOfRepository(t, "go.mod", "go.sum", "api", "internal", "docs", "test")
	steps, command := exampleOfAVendor(t)
	var code int
	for _, s := range steps {
		if strings.HasSuffix(s.file, ".go") {
			code++
		}
		apply(t, root, s)
	}
	if code != 1 || len(steps) != 5 {
		t.Errorf("the example has %d steps with %d Go files, want 5 with 1: is it read right?", len(steps), code)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(command, "go test", "go test -v", 1))
	cmd.Dir = root
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", command, err, output)
	}
	if want := []byte("--- PASS: TestCorpus/example-npu-x2"); !bytes.Contains(output, want) {
		t.Errorf("%s did not read the node of the example:\n%s", command, output)
	}
}

// exampleOfAVendor reads the steps of the example, and the command that checks them.
func exampleOfAVendor(t *testing.T) (steps []step, command string) {
	t.Helper()
	_, text, found := strings.Cut(readPage(t, "CONTRIBUTING.md"), "\n## Add a vendor in one file\n")
	if !found {
		t.Fatal("CONTRIBUTING.md does not say how to add a vendor")
	}
	end := 0
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		before, block := text[end:m[0]], text[m[2]:m[3]]
		end = m[1]
		if c := createFile.FindStringSubmatch(before); c != nil {
			steps = append(steps, step{file: c[1], block: block})
		} else if a := addRows.FindStringSubmatch(before); a != nil {
			steps = append(steps, step{file: a[2], table: a[1], block: block})
		} else if thenRun.MatchString(before) {
			command = strings.TrimSpace(block)
		}
	}
	return steps, command
}

// apply creates the file of a step, or appends its rows to a table.
func apply(t *testing.T, root string, s step) {
	t.Helper()
	path := filepath.Join(root, s.file)
	content := s.block
	if s.table != "" {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, found := strings.Cut(string(page), "# "+s.table+"\n")
		table := regexp.MustCompile(`(?m)^\|.*\n(?:\|.*\n)+`).FindStringIndex(rest)
		if !found || table == nil {
			t.Fatalf("%s has no table under %q", s.file, s.table)
		}
		content = head + "# " + s.table + "\n" + rest[:table[1]] + s.block + rest[table[1]:]
	} else if _, err := os.Stat(path); err == nil {
		t.Fatalf("%s is there already", s.file)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// copyOfRepository copies files and folders of the repository to a temporary folder.
func copyOfRepository(t *testing.T, names ...string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range names {
		from := filepath.Join(repository, name)
		info, err := os.Stat(from)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			err = os.CopyFS(filepath.Join(to, name), os.DirFS(from))
		} else {
			var content []byte
			if content, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(filepath.Join(to, name), content, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}
