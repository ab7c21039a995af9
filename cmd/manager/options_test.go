package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
)

func TestOptionsValidate(t *testing.T) {
	cases := map[string]struct {
		args []string
		want string // part of the error; empty: none
	}{
		"the defaults and a namespace":  {args: []string{"--namespace=gpu"}},
		"no namespace":                  {want: "--namespace is empty: name the namespace"},
		"a namespace that cannot exist": {args: []string{"--namespace=A_b"}, want: `--namespace "A_b"`},
		"a name that cannot exist":      {args: []string{"--namespace=gpu", "--configmap-name=x y"}, want: `--configmap-name "x y"`},
		"a negative limit":              {args: []string{"--namespace=gpu", "--per-node-metrics-limit=-1"}, want: "use 0 for no series by node"},
		"namespaces without pods":       {args: []string{"--namespace=gpu", "--namespace-metrics", "--allocation=false"}, want: "--namespace-metrics needs --allocation"},
		"an unknown log format":         {args: []string{"--namespace=gpu", "--log-format=xml"}, want: `--log-format "xml": use json or text`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("POD_NAMESPACE", "")
			var o options
			fs := flag.NewFlagSet("manager", flag.ContinueOnError)
			o.register(fs)
			if err := fs.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			err := o.validate()
			if tc.want == "" {
				if err != nil {
					t.Errorf("validate() = %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("validate() = %v, want it to say %q", err, tc.want)
			}
		})
	}
}

func TestRunExitCodes(t *testing.T) {
	cases := map[string]struct {
		args       []string
		want       int
		wantStderr string
	}{
		"help":            {args: []string{"--help"}, want: 0, wantStderr: "--leader-elect (default true)"},
		"version":         {args: []string{"--version"}, want: 0},
		"an unknown flag": {args: []string{"--nope"}, want: 2, wantStderr: "not defined: -nope"},
		"an argument":     {args: []string{"run"}, want: 2, wantStderr: `unexpected argument "run"`},
		"an invalid flag": {args: []string{"--namespace="}, want: 2, wantStderr: "--namespace is empty"},
		"no such cluster": {args: []string{"--namespace=gpu", "--kubeconfig=/does/not/exist"}, want: 1, wantStderr: "read kubeconfig /does/not/exist"},
		"a bad log level": {args: []string{"--log-level=loud"}, want: 2, wantStderr: "invalid value"},
		"a bad address":   {args: []string{"--namespace=gpu", "--kubeconfig=testdata/kubeconfig", "--metrics-bind-address=nowhere"}, want: 1, wantStderr: "nowhere"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("POD_NAMESPACE", "")
			var stdout, stderr bytes.Buffer
			if got := run(t.Context(), tc.args, &stdout, &stderr); got != tc.want {
				t.Errorf("run() = %d, want %d; stderr: %s", got, tc.want, &stderr)
			}
			if !strings.Contains(stderr.String(), tc.wantStderr) {
				t.Errorf("stderr = %q, want it to say %q", &stderr, tc.wantStderr)
			}
		})
	}
}

func TestEveryFlagIsExplained(t *testing.T) {
	docs, err := os.ReadFile("../../docs/flags.md")
	if err != nil {
		t.Fatal(err)
	}
	var o options
	fs := flag.NewFlagSet("manager", flag.ContinueOnError)
	o.register(fs)
	documented := strings.Count(string(docs), "\n| `--")
	registered := 0
	fs.VisitAll(func(f *flag.Flag) {
		registered++
		if f.Usage == "" {
			t.Errorf("--%s has no help", f.Name)
		}
		if !strings.Contains(string(docs), "\n| `--"+f.Name+"` |") {
			t.Errorf("--%s is not in docs/flags.md", f.Name)
		}
	})
	if documented != registered {
		t.Errorf("docs/flags.md has %d flags, the manager %d", documented, registered)
	}
}
