package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const homelab = "../../examples/homelab.yaml"

// run runs the plugin as a process would.
func run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// wantRefused runs the plugin and wants it to refuse, with code 2 and exactly this error.
func wantRefused(t *testing.T, want, stdin string, args ...string) {
	t.Helper()
	code, stdout, stderr := run(t, stdin, args...)
	if code != 2 || stdout != "" {
		t.Errorf("exit code %d, stdout %q, want 2 and nothing", code, stdout)
	}
	if want := "error: " + want + "\n"; stderr != want {
		t.Errorf("stderr\n%s\nwant\n%s", stderr, want)
	}
}

// file writes a file and returns its name.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	nodeA     = "apiVersion: v1\nkind: Node\nmetadata:\n  name: a\n"
	nodeB     = "apiVersion: v1\nkind: Node\nmetadata:\n  name: b\n"
	emptyList = "apiVersion: v1\nitems: []\nkind: List\n"
	pod       = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n"
	slice     = "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata:\n  name: s\n"
	service   = "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n"
)

func TestRunExitsWith0WhenThereIsAnAnswer(t *testing.T) {
	cases := map[string]struct {
		stdin string
		args  []string
		want  string // a part of stdout
	}{
		"a file":                   {"", []string{"scan", "-f", homelab}, "4 GPU nodes (0 ready)"},
		"standard input":           {nodeA, []string{"scan", "-f", "-"}, "0 GPU nodes (0 ready)"},
		"an empty list of Nodes":   {emptyList, []string{"scan", "-f", "-"}, "0 GPU nodes (0 ready), 0 GPUs (0 ready, 0 free)"},
		"an empty list beside":     {emptyList, []string{"scan", "-f", homelab, "-f", "-"}, "4 GPU nodes"},
		"other kinds beside":       {nodeA + "---\n" + service + "---\n" + pod, []string{"scan", "-f", "-"}, "0 GPU nodes"},
		"a file of Pods beside":    {pod, []string{"scan", "-f", "-", "-f", homelab}, "4 GPU nodes"},
		"a file of slices beside":  {slice, []string{"scan", "-f", "-", "-f", homelab}, "4 GPU nodes"},
		"JSON":                     {"", []string{"scan", "-ojson", "--filename=" + homelab}, `"apiVersion": "homelab.youngju.dev/v1"`},
		"YAML":                     {"", []string{"scan", "--output", "yaml", "-f", homelab}, "apiVersion: homelab.youngju.dev/v1\n"},
		"a note":                   {emptyList, []string{"scan", "-f", "-", "--note", "as of today"}, "Note: as of today"},
		"a note in JSON":           {emptyList, []string{"scan", "-f", "-", "--note", "as of today", "-o", "json"}, `"note": "as of today"`},
		"help":                     {"", []string{"--help"}, "kubectl gpuinv [command]"},
		"help of a command":        {"", []string{"scan", "--help"}, "kubectl get nodes -o yaml > nodes.yaml"},
		"version":                  {"", []string{"version"}, "kubectl-gpuinv "},
		"a control character":      {emptyList, []string{"scan", "-f", "-", "--note", "\x1b[2Jx"}, "Note: \uFFFD[2Jx"},
		"a Node of another group":  {nodeA + "---\napiVersion: example.com/v1\nkind: Node\nmetadata: {name: a}\n", []string{"scan", "-f", "-"}, "0 GPU nodes"},
		"a slice of another group": {nodeA + "---\n" + strings.Repeat("apiVersion: example.com/v1\nkind: ResourceSlice\nmetadata: {name: a}\n---\n", 2), []string{"scan", "-f", "-"}, "0 GPU nodes"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, tc.stdin, tc.args...)
			if code != 0 || stderr != "" {
				t.Errorf("exit code %d, stderr %q, want 0 and nothing", code, stderr)
			}
			if !strings.Contains(stdout, tc.want) {
				t.Errorf("stdout %q, want it to contain %q", stdout, tc.want)
			}
		})
	}
}

func TestRunExitsWith2AndOneLineForBadInput(t *testing.T) {
	twice := file(t, "twice.yaml", nodeB+"---\n"+nodeA)
	pods := file(t, "pods.yaml", pod+"---\n"+service+"---\n"+strings.ReplaceAll(pod, "name: p", "name: q"))
	cases := map[string]struct {
		stdin string
		args  []string
		want  string // stderr without "error: "
	}{
		"kind is missing": {nodeA + "---\n" + nodeB + "---\nfoo: bar\n", []string{"scan", "-f", "-"},
			`standard input: document 3: not a Kubernetes object: kind is missing; expected Nodes as "kubectl get nodes -o yaml" prints them`},
		"a file that is not there": {"", []string{"scan", "-f", "no-such-file.yaml"}, "open no-such-file.yaml: no such file or directory"},
		"a directory":              {"", []string{"scan", "-f", "testdata"}, "testdata: is a directory: name the files in it"},
		"an empty file":            {"", []string{"scan", "-f", "-"}, `standard input: no Node in it, but no Kubernetes object at all; expected Nodes as "kubectl get nodes -o yaml" prints them`},
		"no Node in the file": {"", []string{"scan", "-f", pods},
			pods + `: no Node in it, but 2 Pod, 1 Service; expected Nodes as "kubectl get nodes -o yaml" prints them`},
		"a wrong file beside": {service, []string{"scan", "-f", homelab, "-f", "-"},
			`standard input: no Node in it, but 1 Service; expected Nodes as "kubectl get nodes -o yaml" prints them`},
		"only Pods": {pod, []string{"scan", "-f", "-"},
			`standard input: no Node in it, but 1 Pod; expected Nodes as "kubectl get nodes -o yaml" prints them`},
		"many kinds": {"apiVersion: v1\nkind: List\nitems: [" + strings.Join(strings.Split("ABCDEFG", ""), "") + "]\n", []string{"scan", "-f", "-"},
			`standard input: document 1: item 1: not a Kubernetes object: it is a string; expected Nodes as "kubectl get nodes -o yaml" prints them`},
		"a Node of another group": {"apiVersion: example.com/v1\nkind: Node\n", []string{"scan", "-f", "-"},
			`standard input: no Node in it, but 1 example.com/v1 Node; expected Nodes as "kubectl get nodes -o yaml" prints them`},
		"the same Node twice": {nodeA, []string{"scan", "-f", twice, "-f", "-"},
			`standard input: document 1: the Node "a" is there twice, first in ` + twice + ": document 2"},
		"the same ResourceSlice twice": {nodeA + "---\n" + slice + "---\n" + strings.ReplaceAll(slice, "/v1", "/v1beta1"), []string{"scan", "-f", "-"},
			`standard input: document 3: the ResourceSlice "s" is there twice, first in standard input: document 2`},
		"the same file twice":      {"", []string{"scan", "-f", twice, "-f", twice}, twice + `: document 1: the Node "b" is there twice, first in ` + twice + ": document 1"},
		"standard input twice":     {nodeA, []string{"scan", "-f", "-", "-f", "-"}, "standard input can be read only once: -f - is given twice"},
		"a Node without a name":    {"apiVersion: v1\nkind: Node\n", []string{"scan", "-f", "-"}, "standard input: document 1: a Node without metadata.name"},
		"labels that are a number": {nodeA + "  labels: 5\n", []string{"scan", "-f", "-"}, `standard input: document 1: Node "a": metadata.labels is a number, must be an object`},
		"a slice of wrong types":   {nodeA + "---\n" + slice + "spec: {devices: 5}\n", []string{"scan", "-f", "-"}, `standard input: document 2: ResourceSlice "s": spec.devices is a number, must be a list`},
		"a control character":      {"apiVersion: v1\nkind: Node\nmetadata: {name: \"\\e[2J\", labels: 5}\n", []string{"scan", "-f", "-"}, `standard input: document 1: Node "\x1b[2J": metadata.labels is a number, must be an object`},
		"a forged second line":     {"apiVersion: v1\nkind: \"Pod\\nerror: all is well\"\n", []string{"scan", "-f", "-"}, `standard input: no Node in it, but 1 Pod error: all is well; expected Nodes as "kubectl get nodes -o yaml" prints them`},

		"an unknown command":       {"", []string{"scna"}, `unknown command "scna"; see "kubectl gpuinv --help"`},
		"an unknown flag":          {"", []string{"scan", "--nope"}, `unknown flag: --nope; see "kubectl gpuinv scan --help"`},
		"an unknown short flag":    {"", []string{"-x"}, `unknown shorthand flag: 'x' in -x; see "kubectl gpuinv --help"`},
		"a flag without its value": {"", []string{"scan", "-f"}, `flag needs an argument: 'f' in -f; see "kubectl gpuinv scan --help"`},
		"an unknown format":        {"", []string{"scan", "-o", "xml"}, `invalid argument "xml" for "-o, --output" flag: must be table, json or yaml; see "kubectl gpuinv scan --help"`},
		"a file without -f":        {"", []string{"scan", "nodes.yaml"}, `unexpected argument "nodes.yaml": files are given with -f; see "kubectl gpuinv scan --help"`},
		"a note that is too long":  {nodeA, []string{"scan", "-f", "-", "--note", strings.Repeat("é", 1025)}, `the note has 1025 characters, at most 1024 are allowed; see "kubectl gpuinv scan --help"`},
		"two names":                {"", []string{"status", "a", "b"}, `one name at a time, got 2; see "kubectl gpuinv status --help"`},
		"an argument to version":   {"", []string{"version", "x"}, `unexpected argument "x"; see "kubectl gpuinv version --help"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, tc.want, tc.stdin, tc.args...)
		})
	}
}

func TestRunNamesOnlyTheFirstOfManyKinds(t *testing.T) {
	var text strings.Builder
	for _, kind := range "ABCDEFG" {
		text.WriteString("apiVersion: v1\nkind: " + string(kind) + "\n---\n")
	}
	_, _, stderr := run(t, text.String(), "scan", "-f", "-")
	if want := "but 1 A, 1 B, 1 C, 1 D, 1 E and 2 more kinds;"; !strings.Contains(stderr, want) {
		t.Errorf("stderr %q, want it to contain %q", stderr, want)
	}
}

func TestRunExitsWith1WhenTheOutputCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"scan", "-f", homelab}, {"scan", "-f", homelab, "-o", "json"}, {"version"}} {
		var stderr bytes.Buffer
		code := Run(t.Context(), args, strings.NewReader(""), brokenWriter{}, &stderr)
		if code != 1 || !strings.Contains(stderr.String(), "disk full") {
			t.Errorf("%v: exit code %d, stderr %q, want 1 and the cause", args, code, stderr.String())
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }
