package wire

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// These tests hold the table of a Node's fields against gpu.Facts, which is what is kept of a Node: what the table cuts away
// is in no Facts, every field of the table is in some, and the known Nodes have every field of Facts.

func factsOf(n *corev1.Node) *gpu.Facts { return gpu.FactsOf(n, gpu.Options{}, nil) }

// knownNodes are the known Nodes, and one with what an API server adds to each.
func knownNodes(t *testing.T) []*corev1.Node {
	t.Helper()
	nodes, _ := corpus(t)
	full := nodes[len(nodes)-1].DeepCopy()
	full.UID, full.ResourceVersion, full.Generation = "u", "7", 1
	full.CreationTimestamp = metav1.NewTime(time.Unix(1_780_000_000, 0))
	full.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate}}
	full.Finalizers = []string{"example.com/keep"}
	return append(nodes, full)
}

func TestANodeLosesNothingThatIsRead(t *testing.T) {
	for _, n := range knownNodes(t) {
		full, pruned := decode[*corev1.Node](t, encode(t, n))
		if want, got := factsOf(full), factsOf(pruned); !got.Equal(want) || full.ResourceVersion != pruned.ResourceVersion {
			t.Errorf("node %s pruned has the facts %+v, want %+v", n.Name, got, want)
		}
	}
}

// path leads to a field: field numbers from the outermost message to the innermost.
type path []protowire.Number

// leaves returns the paths to the fields that are kept whole, or of which some keys are kept.
func leaves(table fields) []path {
	var out []path
	for _, number := range slices.Sorted(maps.Keys(table)) {
		if table[number].of == nil {
			out = append(out, path{number})
		}
		for _, leaf := range leaves(table[number].of) {
			out = append(out, append(path{number}, leaf...))
		}
	}
	return out
}

// without returns a copy of a table that lacks a field.
func without(table fields, p path) fields {
	out := maps.Clone(table)
	if len(p) == 1 {
		delete(out, p[0])
		return out
	}
	inner := out[p[0]]
	inner.of = without(inner.of, p[1:])
	out[p[0]] = inner
	return out
}

// decodeBy decodes a Node of which a table is kept.
func decodeBy(t *testing.T, table fields, data []byte) *corev1.Node {
	t.Helper()
	envelope, _ := bytes.CutPrefix(data, magic)
	pruned, err := prune(slices.Clone(magic), envelope, fields{typeMeta: {}, raw: {of: table}})
	if err != nil {
		t.Fatal(err)
	}
	obj, _, err := serializer(t, scheme.Codecs).Decode(pruned, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return obj.(*corev1.Node)
}

// forTheWatch are the fields that are no facts and that a watch needs, with what they are.
var forTheWatch = map[string]func(*corev1.Node) string{
	"[1 6]": func(n *corev1.Node) string { return n.ResourceVersion },
}

func TestEveryFieldOfTheTableIsNeeded(t *testing.T) {
	all := leaves(node)
	if len(all) < 10 {
		t.Errorf("only %d fields are kept: %v", len(all), all)
	}
	nodes := knownNodes(t)
	for _, leaf := range all {
		reduced := without(node, leaf)
		value, watch := forTheWatch[fmt.Sprint(leaf)]
		needed := slices.ContainsFunc(nodes, func(n *corev1.Node) bool {
			data := encode(t, n)
			whole, less := decodeBy(t, node, data), decodeBy(t, reduced, data)
			if watch {
				return value(whole) != value(less)
			}
			return !factsOf(whole).Equal(factsOf(less))
		})
		if !needed {
			t.Errorf("the field %v is kept, and no known Node says less without it", leaf)
		}
	}
}

// differences notes which fields of a struct differ.
type differences struct {
	path   cmp.Path
	fields map[string]bool
}

func (d *differences) PushStep(step cmp.PathStep) { d.path = append(d.path, step) }
func (d *differences) PopStep()                   { d.path = d.path[:len(d.path)-1] }
func (d *differences) Report(r cmp.Result) {
	if r.Equal() {
		return
	}
	for _, step := range d.path {
		if field, ok := step.(cmp.StructField); ok {
			d.fields[field.Name()] = true
			return
		}
	}
}

// TestTheKnownNodesHaveEveryFact fails for a new field of gpu.Facts that no known Node has, which the other tests would miss.
func TestTheKnownNodesHaveEveryFact(t *testing.T) {
	found, none := differences{fields: map[string]bool{}}, factsOf(&corev1.Node{})
	for _, n := range knownNodes(t) {
		_, pruned := decode[*corev1.Node](t, encode(t, n))
		everything := cmp.Exporter(func(reflect.Type) bool { return true })
		cmp.Equal(*none, *factsOf(pruned), everything, cmp.Reporter(&found))
	}
	for field := range reflect.TypeFor[gpu.Facts]().Fields() {
		if !found.fields[field.Name] {
			t.Errorf("no known Node, pruned, has the fact %q", field.Name)
		}
	}
}
