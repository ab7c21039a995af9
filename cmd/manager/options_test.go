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
		"a certificate without TLS":     {args: []string{"--namespace=gpu", "--metrics-secure=false", "--metrics-cert-dir=/certs"}, want: "--metrics-cert-dir needs --metrics-secure"},
		"an inventory file":             {args: []string{"--namespace=gpu", "--inventory-file=../../examples/gpuinventory.yaml"}},
		"no inventory file":             {args: []string{"--namespace=gpu", "--inventory-file=/none.yaml"}, want: "--inventory-file: open /none.yaml"},
		"an inventory file of Nodes":    {args: []string{"--namespace=gpu", "--inventory-file=../../examples/homelab.yaml"}, want: "it must hold one GpuInventory"},
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
		"help":                              {args: []string{"--help"}, want: 0, wantStderr: "--leader-elect (default true)"},
		"version":                           {args: []string{"--version"}, want: 0},
		"an unknown flag":                   {args: []string{"--nope"}, want: 2, wantStderr: "not defined: -nope"},
		"an argument":                       {args: []string{"run"}, want: 2, wantStderr: `unexpected argument "run"`},
		"an invalid flag":                   {args: []string{"--namespace="}, want: 2, wantStderr: "--namespace is empty"},
		"no such cluster":                   {args: []string{"--namespace=gpu", "--kubeconfig=/does/not/exist"}, want: 1, wantStderr: "read kubeconfig /does/not/exist"},
		"an inventory file that is missing": {args: []string{"--namespace=gpu", "--inventory-file=/none.yaml"}, want: 2, wantStderr: "/none.yaml"},
		"a check without anything to check": {args: []string{"check"}, want: 2, wantStderr: "nothing to check"},
		"help of check":                     {args: []string{"check", "--help"}, want: 0, wantStderr: "--ready-url"},
		"an unknown flag of check":          {args: []string{"check", "--nope"}, want: 2, wantStderr: "not defined: -nope; see manager check --help"},
		"an argument of check":              {args: []string{"check", "all"}, want: 2, wantStderr: `unexpected argument "all"`},
		"a URL of check that is none":       {args: []string{"check", "--ready-url=localhost:8081"}, want: 2, wantStderr: "use a URL such as"},
		"a check that verifies and does not": {
			args: []string{"check", "--metrics-url=https://x/metrics", "--ca-file=/ca", "--insecure-skip-verify"}, want: 2, wantStderr: "exclude each other"},
		"a timeout of check below zero":  {args: []string{"check", "--inventory=x", "--timeout=-1s"}, want: 2, wantStderr: "use 0 to check once"},
		"a check that fails":             {args: []string{"check", "--ready-url=http://127.0.0.1:1/readyz", "--timeout=0"}, want: 1, wantStderr: "FAILED ready http://127.0.0.1:1/readyz"},
		"a check without such a cluster": {args: []string{"check", "--inventory=x", "--kubeconfig=/does/not/exist"}, want: 1, wantStderr: "read kubeconfig /does/not/exist"},
		"a bad log level":                {args: []string{"--log-level=loud"}, want: 2, wantStderr: "invalid value"},
		"a bad address":                  {args: []string{"--namespace=gpu", "--kubeconfig=testdata/kubeconfig", "--metrics-bind-address=nowhere"}, want: 1, wantStderr: "nowhere"},
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

func TestWhatIsWrongTakesOneLine(t *testing.T) {
	for _, args := range [][]string{{"--nope"}, {"check", "--nope"}, {"check"}, {"--namespace=gpu", "--inventory-file=/none.yaml"}} {
		var stdout, stderr bytes.Buffer
		run(t.Context(), args, &stdout, &stderr)
		if got := strings.Count(stderr.String(), "\n"); got != 1 {
			t.Errorf("%q is answered by %d lines: %s", args, got, &stderr)
		}
	}
}

func TestEveryFlagIsExplained(t *testing.T) {
	content, err := os.ReadFile("../../docs/flags.md")
	if err != nil {
		t.Fatal(err)
	}
	manager, check, found := strings.Cut(string(content), "\n## manager check\n")
	if !found {
		t.Fatal("docs/flags.md has no section on manager check")
	}
	var o options
	var c checkOptions
	for _, tc := range []struct {
		name, docs string
		register   func(*flag.FlagSet)
	}{{"manager", manager, o.register}, {"manager check", check, c.register}} {
		t.Run(tc.name, func(t *testing.T) {
			fs := flag.NewFlagSet(tc.name, flag.ContinueOnError)
			tc.register(fs)
			registered := 0
			fs.VisitAll(func(f *flag.Flag) {
				registered++
				if f.Usage == "" {
					t.Errorf("--%s has no help", f.Name)
				}
				if !strings.Contains(tc.docs, "\n| `--"+f.Name+"` |") {
					t.Errorf("--%s is not in docs/flags.md", f.Name)
				}
				if def := f.DefValue; def != "" && f.Name != "namespace" && !strings.Contains(tc.docs, "\n| `--"+f.Name+"` | `"+strings.ToLower(def)+"` |") {
					t.Errorf("docs/flags.md has another default of --%s than %s", f.Name, def)
				}
			})
			if documented := strings.Count(tc.docs, "\n| `--"); documented != registered {
				t.Errorf("docs/flags.md has %d flags, the program %d", documented, registered)
			}
		})
	}
}
