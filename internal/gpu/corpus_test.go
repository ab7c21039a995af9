package gpu

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// corpusCase is one file of testdata/corpus: a Node, what DRA drivers publish for it, and the right answers.
type corpusCase struct {
	name   string
	node   *corev1.Node
	slices []resourcev1.ResourceSlice
	// expected is the best value of each field; accepted has further values that are right too. A field that only has
	// accepted values may be absent.
	expected map[string]string
	accepted map[string][]string
}

func (c corpusCase) input() Input {
	return Input{Node: c.node, Devices: DevicesByNode(c.slices)[c.node.Name]}
}

// reasonTokens maps the corpus' words for reasons, which are suggestions, to ours.
//
//   - Cordoned is a fact of scheduling here, so such a node is OK and has the warning Cordoned.
//   - NoGpuEvidence and NotAGpuNode are said of nodes that are no GPU nodes, and once of a node that only an administrator's
//     label speaks for: nothing is registered there, which is what DevicePluginNotRegistered says.
var reasonTokens = map[string]v1.Reason{
	"Cordoned":      v1.ReasonOK,
	"NoGpuEvidence": v1.ReasonDevicePluginNotRegistered,
}

// judgedElsewhere are fields that pods or other inputs decide.
var judgedElsewhere = []string{"usedUnits", "freeUnits", "replicas", "migStrategy"}

func TestCorpus(t *testing.T) {
	for _, c := range loadCorpus(t) {
		t.Run(c.name, func(t *testing.T) {
			reading, ok := Read(c.input(), Options{})
			got := answersOf(reading.Row, ok, c.expected["vendor"])
			for _, field := range slices.Sorted(maps.Keys(c.expected)) {
				if !ok && field != "isGpuNode" || slices.Contains(judgedElsewhere, field) {
					continue
				}
				value, known := got[field]
				if !known {
					t.Errorf("the corpus has a field %q that this test does not know", field)
				}
				if want := append([]string{c.expected[field]}, c.accepted[field]...); !accepts(field, want, value) {
					t.Errorf("%s = %q, want one of %q", field, value, want)
				}
			}
		})
	}
}

func TestCorpusIsComplete(t *testing.T) {
	if got, want := len(loadCorpus(t)), 116; got != want {
		t.Errorf("testdata/corpus has %d cases, want %d", got, want)
	}
}

// accepts reports whether a value is among the accepted ones, in the corpus' spelling.
func accepts(field string, accepted []string, value string) bool {
	for _, a := range accepted {
		switch field {
		case "reason":
			if r, ok := reasonTokens[a]; ok {
				a = string(r)
			}
		case "allocatableUnits", "vendor":
			a = sortList(a)
		case "warning":
			if a == "none" || slices.Contains(strings.Split(value, ","), a) {
				return true
			}
		}
		if a == value {
			return true
		}
	}
	return false
}

func sortList(s string) string {
	parts := strings.Split(s, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// answersOf spells a row as the corpus does. Where a node has several vendors, the corpus' single answers are about the one
// that it names first.
func answersOf(row v1.GpuNode, ok bool, vendorList string) map[string]string {
	first, _, several := strings.Cut(vendorList, ",")
	groups := slices.DeleteFunc(slices.Clone(row.Gpus), func(g v1.GpuGroup) bool { return several && string(g.Vendor) != first })
	var vendors []string
	for _, g := range row.Gpus {
		if !slices.Contains(vendors, string(g.Vendor)) {
			vendors = append(vendors, string(g.Vendor))
		}
	}
	var warnings []string
	for _, w := range row.Warnings {
		warnings = append(warnings, string(w))
	}
	return map[string]string{
		"isGpuNode":        strconv.FormatBool(ok),
		"vendor":           sortList(strings.Join(vendors, ",")),
		"product":          each(groups, func(g v1.GpuGroup) string { return word(g.Product, "unknown") }),
		"variant":          each(groups, func(g v1.GpuGroup) string { return word(g.Variant, "none") }),
		"physicalGpus":     number(row.GpuCount),
		"allocatableUnits": unitsText(row.Resources),
		"memoryMiB":        each(groups, func(g v1.GpuGroup) string { return number(g.MemoryMiB) }),
		"memoryPerUnitMiB": each(groups, func(g v1.GpuGroup) string { return number(g.MemoryPerUnitMiB) }),
		"sharing":          word(string(row.Sharing), "unknown"),
		"workloadMode":     word(string(row.WorkloadMode), "unknown"),
		"ready":            strconv.FormatBool(row.Ready),
		"reason":           string(row.Reason),
		"warning":          word(strings.Join(warnings, ","), "none"),
		"schedulable":      strconv.FormatBool(!row.Unschedulable),
	}
}

func each(groups []v1.GpuGroup, say func(v1.GpuGroup) string) string {
	var out []string
	for _, g := range groups {
		if s := say(g); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

func word(s, absent string) string {
	if s == "" {
		return absent
	}
	return s
}

func number[N int32 | int64](n *N) string {
	if n == nil {
		return "unknown"
	}
	return strconv.FormatInt(int64(*n), 10)
}

func unitsText(resources []v1.NodeResource) string {
	var out []string
	for _, u := range resources {
		if u.Allocatable > 0 {
			out = append(out, fmt.Sprintf("%s:%d", u.Name, u.Allocatable))
		}
	}
	return sortList(word(strings.Join(out, ","), "none"))
}

// loadCorpus reads every case of testdata/corpus.
func loadCorpus(t testing.TB) []corpusCase {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []corpusCase
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := corpusCase{name: strings.TrimSuffix(filepath.Base(file), ".yaml")}
		c.readAnswers(data)
		for doc := range bytes.SplitSeq(data, []byte("\n---\n")) {
			c.add(t, doc)
		}
		if c.node == nil {
			t.Fatalf("%s has no Node", file)
		}
		cases = append(cases, c)
	}
	return cases
}

// readAnswers reads the header lines of a case.
func (c *corpusCase) readAnswers(data []byte) {
	c.expected, c.accepted = map[string]string{}, map[string][]string{}
	for line := range strings.SplitSeq(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, "# expect: "); ok {
			field, value, _ := strings.Cut(rest, "=")
			c.expected[field] = value
		}
		if rest, ok := strings.CutPrefix(line, "# accept: "); ok {
			field, value, _ := strings.Cut(rest, "=")
			c.accepted[field] = append(c.accepted[field], value)
		}
	}
}

// add takes a document of a case that the engine reads.
func (c *corpusCase) add(t testing.TB, doc []byte) {
	t.Helper()
	var meta metav1.TypeMeta
	decode(t, doc, &meta)
	switch meta.APIVersion + " " + meta.Kind {
	case "v1 Node":
		c.node = &corev1.Node{}
		decode(t, doc, c.node)
	case "resource.k8s.io/v1 ResourceSlice":
		var s resourcev1.ResourceSlice
		decode(t, doc, &s)
		c.slices = append(c.slices, s)
	case "resource.k8s.io/v1beta1 ResourceSlice":
		var s resourcev1beta1.ResourceSlice
		decode(t, doc, &s)
		c.slices = append(c.slices, FromV1beta1(&s))
	case "resource.k8s.io/v1beta2 ResourceSlice":
		var s resourcev1beta2.ResourceSlice
		decode(t, doc, &s)
		c.slices = append(c.slices, FromV1beta2(&s))
	}
}

func decode(t testing.TB, doc []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(doc, into); err != nil {
		t.Fatal(err)
	}
}
