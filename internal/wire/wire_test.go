package wire

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu/gputest"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
	"github.com/gpu-inventory/gpu-inventory-operator/test/scale/fleet"
)

// serializer returns the protobuf serializer of codecs.
func serializer(t testing.TB, codecs runtime.NegotiatedSerializer) runtime.Serializer {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		t.Fatal("no protobuf")
	}
	return info.Serializer
}

func encode(t testing.TB, obj runtime.Object) []byte {
	t.Helper()
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	if err != nil {
		t.Fatal(err)
	}
	obj.GetObjectKind().SetGroupVersionKind(kinds[0])
	var out bytes.Buffer
	if err := serializer(t, scheme.Codecs).Encode(obj, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// decode decodes an object as a whole, and pruned.
func decode[O runtime.Object](t testing.TB, data []byte) (full, pruned O) {
	t.Helper()
	by := func(codecs runtime.NegotiatedSerializer) O {
		obj, _, err := serializer(t, codecs).Decode(data, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return obj.(O)
	}
	return by(scheme.Codecs), by(Codecs(scheme.Codecs))
}

// corpus returns the known Nodes and Pods, and made-up ones of the scale test, which have fields that nothing reads.
func corpus(t *testing.T) (nodes []*corev1.Node, pods []*corev1.Pod) {
	t.Helper()
	for _, c := range gputest.Corpus(t, "../gpu/testdata/corpus") {
		for _, document := range c.Documents() {
			var meta metav1.TypeMeta
			var node corev1.Node
			var pod corev1.Pod
			into := map[string]any{"Node": &node, "Pod": &pod}
			if err := yaml.Unmarshal(document, &meta); err != nil {
				t.Fatalf("%s: %v", c.Path, err)
			}
			if into[meta.Kind] == nil {
				continue
			}
			if err := yaml.Unmarshal(document, into[meta.Kind]); err != nil {
				t.Fatalf("%s: %v", c.Path, err)
			}
			if meta.Kind == "Node" {
				nodes = append(nodes, &node)
			} else {
				pods = append(pods, &pod)
			}
		}
	}
	if len(nodes) < 100 || len(pods) < 10 {
		t.Fatalf("%d Nodes and %d Pods in the corpus", len(nodes), len(pods))
	}
	return append(nodes, fleet.Node(7)), append(pods, fleet.Pod(5, 10), fleet.Pod(6, 10))
}

func TestAPodLosesNothingThatIsRead(t *testing.T) {
	_, pods := corpus(t)
	extended := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "extended"},
		Spec:       corev1.PodSpec{NodeName: "a", ResourceClaims: []corev1.PodResourceClaim{{Name: "c", ResourceClaimName: new("one")}}},
		Status: corev1.PodStatus{
			Phase:                       corev1.PodRunning,
			ResourceClaimStatuses:       []corev1.PodResourceClaimStatus{{Name: "d", ResourceClaimName: new("two")}},
			ExtendedResourceClaimStatus: &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: "three"},
		},
	}
	holding := 0
	for _, p := range append(pods, extended) {
		full, pruned := decode[*corev1.Pod](t, encode(t, p))
		want, wantOK := holders.OfPod(full, gpu.Options{})
		got, ok := holders.OfPod(pruned, gpu.Options{})
		if diff := cmp.Diff(want, got); diff != "" || ok != wantOK {
			t.Errorf("pod %s pruned holds %v, want %v (-want +got):\n%s", p.Name, ok, wantOK, diff)
		}
		if full.Namespace != pruned.Namespace || full.Name != pruned.Name || full.ResourceVersion != pruned.ResourceVersion {
			t.Errorf("pod %s/%s is %s/%s after pruning", full.Namespace, full.Name, pruned.Namespace, pruned.Name)
		}
		if wantOK {
			holding++
		}
	}
	if holding < 5 {
		t.Errorf("only %d of the pods hold anything", holding)
	}
}

func TestListsAreCutItemByItem(t *testing.T) {
	list := &corev1.PodList{
		ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"},
		Items:    []corev1.Pod{*fleet.Pod(5, 10), *fleet.Pod(6, 10)},
	}
	data := encode(t, list)
	_, pruned := decode[*corev1.PodList](t, data)
	if diff := cmp.Diff(list.ListMeta, pruned.ListMeta); diff != "" {
		t.Errorf("metadata of the list (-want +got):\n%s", diff)
	}
	if len(pruned.Items) != 2 || pruned.Items[1].Name != list.Items[1].Name {
		t.Fatalf("items are %v", pruned.Items)
	}
	if pruned.Items[0].Spec.Volumes != nil {
		t.Error("a pod has kept its volumes")
	}
	if small, ok := pruneObject(nil, data); !ok || len(small)*5 > len(data) {
		t.Errorf("%d of %d bytes are left, want less than a fifth", len(small), len(data))
	}
}

func TestTheEndOfAStreamedListIsKept(t *testing.T) {
	for _, obj := range []runtime.Object{&corev1.Node{}, &corev1.Pod{}} {
		meta := obj.(metav1.Object)
		meta.SetResourceVersion("12")
		meta.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true", "other": "annotation"})
		_, pruned := decode[runtime.Object](t, encode(t, obj))
		got := pruned.(metav1.Object)
		if diff := cmp.Diff(map[string]string{metav1.InitialEventsAnnotationKey: "true"}, got.GetAnnotations()); diff != "" {
			t.Errorf("annotations of a %T (-want +got):\n%s", obj, diff)
		}
		if got.GetResourceVersion() != "12" {
			t.Errorf("resourceVersion of a %T is %q", obj, got.GetResourceVersion())
		}
	}
}

func TestOtherKindsStayWhole(t *testing.T) {
	want := &metav1.Status{Reason: metav1.StatusReasonExpired, Message: "too old", Code: 410}
	full, pruned := decode[*metav1.Status](t, encode(t, want))
	if diff := cmp.Diff(full, pruned); diff != "" || pruned.Message != "too old" {
		t.Errorf("Status (-want +got):\n%s", diff)
	}
}

func TestBrokenDataIsTheDecodersToReport(t *testing.T) {
	data := encode(t, fleet.Pod(5, 10))
	for name, broken := range map[string][]byte{
		"nothing":        nil,
		"no protobuf":    []byte("{}"),
		"cut off":        data[:len(data)/2],
		"only its start": data[:6],
	} {
		if _, _, err := serializer(t, Codecs(scheme.Codecs)).Decode(broken, nil, nil); err == nil {
			t.Errorf("%s: decoded without an error", name)
		}
	}
}

// FuzzPrune compares pruning with the decoder: a message that it accepts is accepted pruned, and gives the same Node.
func FuzzPrune(f *testing.F) {
	f.Add(encode(f, fleet.Node(1)))
	f.Add(encode(f, &corev1.Node{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		obj, _, err := serializer(t, scheme.Codecs).Decode(data, nil, nil)
		full, ok := obj.(*corev1.Node)
		if err != nil || !ok {
			pruneObject(nil, data) // must not panic
			return
		}
		obj, _, err = serializer(t, Codecs(scheme.Codecs)).Decode(data, nil, nil)
		if err != nil {
			t.Fatalf("pruned, the Node cannot be decoded: %v", err)
		}
		pruned := obj.(*corev1.Node)
		if want, got := factsOf(full), factsOf(pruned); !got.Equal(want) || full.ResourceVersion != pruned.ResourceVersion {
			t.Errorf("pruned, the Node has the facts %+v, want %+v", got, want)
		}
	})
}

// BenchmarkDecode shows what pruning saves: how many bytes of a typical Node and Pod are decoded, and what that allocates.
func BenchmarkDecode(b *testing.B) {
	for _, kind := range []struct {
		name string
		obj  runtime.Object
	}{{"Node", fleet.Node(7)}, {"Pod", fleet.Pod(6, 10)}} {
		data := encode(b, kind.obj)
		pruned, ok := pruneObject(nil, data)
		if !ok {
			b.Fatalf("a %s is not pruned", kind.name)
		}
		for _, variant := range []struct {
			name    string
			codecs  runtime.NegotiatedSerializer
			decoded int
		}{{"whole", scheme.Codecs, len(data)}, {"pruned", Codecs(scheme.Codecs), len(pruned)}} {
			decoder := serializer(b, variant.codecs)
			b.Run(kind.name+"/"+variant.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, _, err := decoder.Decode(data, nil, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(variant.decoded), "decoded-bytes/op")
			})
		}
	}
}
