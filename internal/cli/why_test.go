package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

func explained(name string, e explanation, options tableOptions) string {
	var out bytes.Buffer
	writeExplanation(&out, name, e, options)
	return out.String()
}

func TestWhyOfTheHomelab(t *testing.T) {
	for file, node := range map[string]string{
		"why-homelab":          "nuc1",
		"why-little-known":     "omen2",
		"why-no-gpu-node":      "nas1",
		"why-nothing-but-mode": "omen",
	} {
		t.Run(file, func(t *testing.T) {
			code, stdout, stderr := run(t, "", "why", node, "-f", homelab)
			if code != 0 || stderr != "" {
				t.Errorf("exit code %d, stderr %q, want 0 and nothing", code, stderr)
			}
			golden(t, file, stdout)
		})
	}
}

func TestTheDocumentationShowsWhatWhyPrints(t *testing.T) {
	text, err := os.ReadFile("../../docs/plugin.md")
	if err != nil {
		t.Fatal(err)
	}
	_, stdout, _ := run(t, "", "why", "omen", "-f", homelab)
	if !strings.Contains(string(text), "$ kubectl gpuinv why omen -f examples/homelab.yaml\n"+stdout+"```\n") {
		t.Errorf("docs/plugin.md does not show what \"why omen -f examples/homelab.yaml\" prints:\n%s", stdout)
	}
	_, _, stderr := run(t, "", "why", "nuc", "-f", homelab)
	if !strings.Contains(string(text), "\n"+stderr) {
		t.Errorf("docs/plugin.md does not show the error %q", stderr)
	}
}

func TestWhyTable(t *testing.T) {
	long := explanation{
		Row: new(gpuNode("gpu-01", "NVIDIA-H100-80GB-HBM3", 8, warned(v1.WarningCordoned, v1.WarningDiskPressure), func(n *v1.GpuNode) {
			n.Unschedulable = true
			n.Message = "nvidia.com/gpu: 7 of 8 units allocatable"
			n.Gpus = append(n.Gpus, v1.GpuGroup{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-A100-SXM4-40GB", Variant: "MIG-1g.5gb", MemoryPerUnitMiB: new(int64(4864))})
		})),
		Evidence: []gpu.Evidence{
			{Kind: gpu.KindAnnotation, Key: "hami.io/node-nvidia-register", Value: strings.Repeat("GPU-0,10,81559,100,NVIDIA-H100,0,true:", 20), Says: "HAMi lists 20 devices"},
			{Kind: gpu.KindCondition, Key: "Ready", Value: "True (KubeletReady)", Says: "the Node's own word about itself", Decides: []string{"ready"}},
			{Kind: gpu.KindLabel, Key: "nvidia.com/gpu.deploy.driver", Says: "the GPU Operator deploys this operand here, or has paused it"},
			{Kind: gpu.KindLabel, Key: "nvidia.com/gpu.product", Value: "NVIDIA-H100-80GB-HBM3", Says: "GFD names the product", Decides: []string{"product", "sharing", "variant", "workloadMode"}},
		},
	}
	seen := explanation{Evidence: []gpu.Evidence{
		{Kind: gpu.KindCondition, Key: "Ready", Value: "True (KubeletReady)", Says: "the Node's own word about itself", Decides: []string{"ready"}},
		{Kind: gpu.KindLabel, Key: "nvidia.com/gpu.present", Value: "false", Says: "the GPU Operator saw an NVIDIA device on the bus, or no longer does"},
	}}
	unread := explanation{notes: []string{"devices of DRA drivers are not known: list resourceslices: resourceslices.resource.k8s.io is forbidden: User \"x\" cannot list resource \"resourceslices\""}}
	hostile := explanation{
		Row:      new(gpuNode("evil\x1b[2J", "\u202eproduct\r\nx", 1, notReady("Rea\x1bson", "a\nb\x07c"), warned("W\x1b[31m"))),
		Evidence: []gpu.Evidence{{Kind: "label\x1b", Key: "k\x1b[2J", Value: "v\nREADY yes", Says: "s\x07", Decides: []string{"pro\x1bduct"}}},
	}
	cases := map[string]struct {
		e       explanation
		options tableOptions
	}{
		"why-long":        {long, tableOptions{width: 100}},
		"why-narrow":      {long, tableOptions{width: 60}},
		"why-colour":      {long, tableOptions{width: 100, colour: true}},
		"why-seen":        {seen, tableOptions{width: 100}},
		"why-unread":      {unread, tableOptions{width: 100}},
		"why-hostile":     {hostile, tableOptions{width: 100}},
		"why-no-evidence": {explanation{Row: &v1.GpuNode{Name: "n", Reason: v1.ReasonReadyConditionMissing}}, tableOptions{width: 100}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := explained("n", tc.e, tc.options)
			golden(t, name, got)
			plainText := tc.options
			plainText.colour = false
			for _, code := range []string{"31", "32", "33", "1", "0"} {
				got = strings.ReplaceAll(got, "\x1b["+code+"m", "")
			}
			if diff := cmp.Diff(explained("n", tc.e, plainText), got); diff != "" {
				t.Errorf("text without and with colour (-without +with):\n%s", diff)
			}
		})
	}
}

// corpus gives the engine's own cases: the name of a file, and what is in it.
func corpus(t *testing.T, visit func(t *testing.T, file string, s *snapshot)) {
	t.Helper()
	files, err := filepath.Glob("../gpu/testdata/corpus/*.yaml")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, error %v, want the cases of the engine", len(files), err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			var s snapshot
			if err := readFiles([]string{name}, nil, &s); err != nil {
				t.Fatal(err)
			}
			visit(t, name, &s)
		})
	}
}

func TestWhyPrintsWhatTheEngineRead(t *testing.T) {
	type printed struct {
		Row      *v1.GpuNode
		Evidence []gpu.Evidence
	}
	corpus(t, func(t *testing.T, name string, s *snapshot) {
		for _, n := range s.nodes {
			reading, ok := gpu.Read(n, dra.DevicesByNode(s.slices)[n.Name()], gpu.Options{})
			want := printed{Evidence: append([]gpu.Evidence{}, reading.Evidence...)}
			if ok {
				want.Row = &reading.Row
			} else {
				for i := range want.Evidence {
					want.Evidence[i].Decides = nil
				}
			}
			for _, output := range []string{"json", "yaml"} {
				code, stdout, stderr := run(t, "", "why", n.Name(), "-f", name, "-o", output)
				if code != 0 {
					t.Fatalf("exit code %d: %s", code, stderr)
				}
				text, err := yaml.YAMLToJSON([]byte(stdout))
				if err != nil {
					t.Fatal(err)
				}
				var got printed
				if err := json.Unmarshal(text, &got); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", output, diff)
				}
			}
		}
	})
}

func TestWhyShowsEveryPieceOfEvidenceWithinTheWidth(t *testing.T) {
	corpus(t, func(t *testing.T, name string, s *snapshot) {
		for _, n := range s.nodes {
			e := s.explain(n)
			_, stdout, _ := run(t, "", "scan", "-f", name, "--why", n.Name())
			for line := range strings.Lines(stdout) {
				line = strings.TrimSuffix(line, "\n")
				if utf8.RuneCountInString(line) > 100 || strings.TrimRight(line, " ") != line {
					t.Errorf("a line of more than 100 characters, or with blanks at its end: %q", line)
				}
			}
			for _, piece := range e.Evidence {
				own := e.Row == nil && (piece.Kind == gpu.KindCondition || piece.Kind == gpu.KindNode)
				if !own && !strings.Contains(stdout, piece.Key+" =") {
					t.Errorf("%s is missing in:\n%s", piece.Key, stdout)
				}
			}
			verdict := n.Name() + " is no GPU node"
			if e.Row != nil {
				verdict = "\nREASON        " + string(e.Row.Reason) + "\n"
			}
			if !strings.Contains(stdout, verdict) {
				t.Errorf("%q is missing in:\n%s", verdict, stdout)
			}
		}
	})
}

func TestWhyShowsWhatWasSeenOnANodeThatIsNoGpuNode(t *testing.T) {
	stdin := nodeA + "  labels: {nvidia.com/gpu.present: \"false\", nvidia.com/gpu.deploy.operands: \"false\"}\n"
	_, stdout, _ := run(t, stdin, "why", "a", "-f", "-")
	const want = `a is no GPU node. This was seen, and is no evidence of a GPU:
label         nvidia.com/gpu.deploy.operands = false
                the GPU Operator deploys this operand here, or has paused it
label         nvidia.com/gpu.present = false
                the GPU Operator saw an NVIDIA device on the bus, or no longer does

What is looked for:
`
	if !strings.HasPrefix(stdout, want) {
		t.Errorf("stdout (-want prefix +got):\n%s", cmp.Diff(want, stdout))
	}
}

func TestScanWithWhyPrintsTheSameAsWhy(t *testing.T) {
	for _, output := range []string{"table", "json", "yaml"} {
		_, want, _ := run(t, "", "why", "nuc1", "-f", homelab, "-o", output)
		code, got, stderr := run(t, "", "scan", "-f", homelab, "--why", "nuc1", "-o", output)
		if code != 0 || stderr != "" {
			t.Errorf("exit code %d, stderr %q, want 0 and nothing", code, stderr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-why +scan):\n%s", output, diff)
		}
	}
}

func TestWhyReadsResourceSlicesBesideTheNode(t *testing.T) {
	devices := "  - name: gpu-0\n    attributes: {type: {string: gpu}, productName: {string: NVIDIA H100 80GB HBM3}}\n"
	slices := strings.Replace(sliceOf, "%s", "v1", 1)
	stdin := nodeA + "---" + strings.Replace(slices, "%s", devices, 1)
	_, stdout, _ := run(t, stdin, "why", "a", "-f", "-")
	for _, want := range []string{"dra:gpu.nvidia.com/a = generation 1, 1 of 1 slices, 1 device", "1 x NVIDIA H100 80GB HBM3 (nvidia)"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("stdout %s\nwant it to contain %q", stdout, want)
		}
	}
}

func TestWhyExitsWith2ForWhatItCannotExplain(t *testing.T) {
	cases := map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"an unknown Node":          {"", []string{"why", "nuc", "-f", homelab}, `there is no Node "nuc"; the nearest of 8: nuc1, nuc2, nas1`},
		"an unknown Node to scan":  {"", []string{"scan", "--why", "OMEN", "-f", homelab}, `there is no Node "OMEN"; the nearest of 8: omen, omen2, nas1`},
		"no Node at all":           {emptyList, []string{"why", "a", "-f", "-"}, `there is no Node "a", nor any other`},
		"a control character":      {nodeA, []string{"why", "\x1b[2J", "-f", "-"}, `there is no Node "\x1b[2J"; the nearest of 1: a`},
		"no name":                  {"", []string{"why"}, `the name of a Node is missing; see "kubectl gpuinv why --help"`},
		"an empty name":            {"", []string{"why", ""}, `the name of a Node is missing; see "kubectl gpuinv why --help"`},
		"an empty name to scan":    {"", []string{"scan", "--why", ""}, `--why needs the name of a Node; see "kubectl gpuinv scan --help"`},
		"two names":                {"", []string{"why", "a", "b"}, `one Node at a time, got 2; see "kubectl gpuinv why --help"`},
		"an unknown format":        {"", []string{"why", "a", "-o", "xml"}, `invalid argument "xml" for "-o, --output" flag: must be table, json or yaml; see "kubectl gpuinv why --help"`},
		"a file that is not there": {"", []string{"why", "a", "-f", "no-such-file.yaml"}, "open no-such-file.yaml: no such file or directory"},
		"a note": {nodeA, []string{"scan", "-f", "-", "--why", "a", "--note", "x"},
			"if any flags in the group [why note] are set none of the others can be; [note why] were all set"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, tc.want, tc.stdin, tc.args...)
		})
	}
}

func TestWhyExitsWith1WhenTheOutputCannotBeWritten(t *testing.T) {
	for _, output := range []string{"table", "json"} {
		var stderr bytes.Buffer
		code := Run(t.Context(), []string{"why", "nuc1", "-f", homelab, "-o", output}, nil, brokenWriter{}, &stderr)
		if want := "error: write the explanation: disk full\n"; code != 1 || stderr.String() != want {
			t.Errorf("exit code %d, stderr %q, want 1 and %q", code, stderr.String(), want)
		}
	}
}

func TestNearestNamesContainTheNameOrTakeFewEdits(t *testing.T) {
	names := []string{"gpu-01.example.com", "gpu-02.example.com", "gpu-10", "zebra", "worker-1"}
	cases := map[string]struct {
		name string
		want []string
	}{
		"a short name":        {"gpu-02", []string{"gpu-02.example.com", "gpu-10", "zebra"}},
		"a longer name":       {"gpu-10.example.com", []string{"gpu-10", "gpu-01.example.com", "gpu-02.example.com"}},
		"another case":        {"ZEBRA", []string{"zebra", "gpu-10", "worker-1"}},
		"letters exchanged":   {"wroker-1", []string{"worker-1", "gpu-10", "zebra"}},
		"nothing in common":   {"ÄÖÜ", []string{"zebra", "gpu-10", "worker-1"}},
		"a name of no length": {"", []string{"gpu-01.example.com", "gpu-02.example.com", "gpu-10"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, nearest(tc.name, names)); diff != "" {
				t.Errorf("nearest() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEditsCountsWhatMustChange(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"é", "e", 1}, {"flaw", "lawn", 2}} {
		if got := edits(tc.a, tc.b); got != tc.want {
			t.Errorf("edits(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestFoldBreaksWordsThatAreLongerThanALine(t *testing.T) {
	cases := map[string]struct {
		text  string
		width int
		want  []string
	}{
		"nothing":          {"", 5, nil},
		"a line":           {"a b", 5, []string{"a b"}},
		"two lines":        {"aaa bbb", 5, []string{"aaa", "bbb"}},
		"a long word":      {"aaaaabbbbbcc", 5, []string{"aaaaa", "bbbbb", "cc"}},
		"an indent":        {"  aaa bbb", 5, []string{"  aaa", "  bbb"}},
		"other characters": {"ééééé ééé", 4, []string{"éééé", "é", "ééé"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, fold(tc.text, tc.width)); diff != "" {
				t.Errorf("fold() (-want +got):\n%s", diff)
			}
		})
	}
}
