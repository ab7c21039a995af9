package gpu

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu/gputest"
)

// corpusCase is one file of testdata/corpus: a Node, what DRA drivers publish for it, and the right answers.
type corpusCase struct {
	gputest.Case
	name   string
	node   *corev1.Node
	slices []resourcev1.ResourceSlice
}

func (c corpusCase) devices() *dra.Devices { return dra.DevicesByNode(c.slices)[c.node.Name] }

func (c corpusCase) read() (Reading, bool) { return readNode(c.node, c.devices(), Options{}) }

func TestCorpus(t *testing.T) {
	for _, c := range loadCorpus(t) {
		t.Run(c.name, func(t *testing.T) {
			reading, ok := c.read()
			answers := answersOf(reading.Row, ok, c.Expected["vendor"])
			c.Judge(t, answers, gputest.FieldUsed, gputest.FieldFree, gputest.FieldReplicas, gputest.FieldMIGStrategy)
		})
	}
}

func TestCorpusIsComplete(t *testing.T) {
	if got, want := len(loadCorpus(t)), 116; got != want {
		t.Errorf("testdata/corpus has %d cases, want %d", got, want)
	}
}

// answersOf spells a row as the corpus does.
func answersOf(row v1.GpuNode, ok bool, vendorList string) map[string]string {
	answers := gputest.Case{Expected: map[string]string{"vendor": vendorList}}.Answers(row)
	answers["isGpuNode"] = strconv.FormatBool(ok)
	return answers
}

func number[N int32 | int64](n *N) string {
	if n == nil {
		return "unknown"
	}
	return strconv.FormatInt(int64(*n), 10)
}

// loadCorpus reads every case of testdata/corpus.
func loadCorpus(t testing.TB) []corpusCase {
	t.Helper()
	var cases []corpusCase
	for _, answers := range gputest.Corpus(t, "testdata/corpus") {
		c := corpusCase{Case: answers, name: answers.Name}
		for _, doc := range answers.Documents() {
			c.add(t, doc)
		}
		if c.node == nil {
			t.Fatalf("%s has no Node", c.Path)
		}
		cases = append(cases, c)
	}
	return cases
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
		c.slices = append(c.slices, dra.FromV1beta1(&s))
	case "resource.k8s.io/v1beta2 ResourceSlice":
		var s resourcev1beta2.ResourceSlice
		decode(t, doc, &s)
		c.slices = append(c.slices, dra.FromV1beta2(&s))
	}
}

func decode(t testing.TB, doc []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(doc, into); err != nil {
		t.Fatal(err)
	}
}
