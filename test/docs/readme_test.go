package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/cli"
)

func TestTheReadmeShowsWhatThePluginPrints(t *testing.T) {
	t.Chdir(root)
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(content)
	commands := regexp.MustCompile(`(?m)^\$ kubectl gpuinv (.* -f examples/.*)$`).FindAllStringSubmatch(readme, -1)
	if len(commands) == 0 {
		t.Fatal("README.md shows no output of the plugin for an example")
	}
	for _, command := range commands {
		var stdout, stderr bytes.Buffer
		if code := cli.Run(t.Context(), strings.Fields(command[1]), nil, &stdout, &stderr); code != 0 {
			t.Fatalf("kubectl gpuinv %s exits with %d: %s", command[1], code, &stderr)
		}
		if !strings.Contains(readme, command[0]+"\n"+stdout.String()+"```\n") {
			t.Errorf("README.md does not show what %q prints:\n%s", command[0], &stdout)
		}
	}
}

func TestTheReadmeNamesFilesThatExist(t *testing.T) {
	for _, m := range regexp.MustCompile("`((?:api|cmd|config|internal|test|examples)/[^`*]*)`").FindAllStringSubmatch(read(t, "README.md"), -1) {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Errorf("README.md names %s: %v", m[1], err)
		}
	}
}

func TestTheBadgesAreTrue(t *testing.T) {
	readme := read(t, "README.md")
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))[1]
	if want := "[![Go " + version + "](https://img.shields.io/badge/Go-" + version + "-"; !strings.Contains(readme, want) {
		t.Errorf("README.md has no badge %s", want)
	}
	if !strings.Contains(readme, "badge/licence-Apache--2.0-") || !strings.Contains(read(t, "LICENSE"), "Apache License") {
		t.Error("README.md has no badge of the licence in LICENSE")
	}
	for _, m := range regexp.MustCompile(`actions/workflows/([a-z]+\.yaml)`).FindAllStringSubmatch(readme, -1) {
		if _, err := os.Stat(filepath.Join(root, ".github/workflows", m[1])); err != nil {
			t.Errorf("README.md has the badge of a workflow that is not there: %v", err)
		}
	}
}
