package configmap

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func render(t *testing.T, inv *v1.GpuInventoryStatus) map[string]string {
	t.Helper()
	data, err := Render(inv)
	if err != nil {
		t.Fatalf("Render() error = %v", err)
	}
	return data
}

func TestRenderedTextIsTheGoldenText(t *testing.T) {
	cases := map[string]*v1.GpuInventoryStatus{
		"homelab":           homelab(),
		"mixed-fleet":       mixedFleet(),
		"hostile":           hostile(),
		"no-gpu-nodes":      {TotalGpuNodes: new(int32(0)), ReadyGpuNodes: new(int32(0)), TotalGpus: new(int32(0)), UnknownGpuNodes: new(int32(0))},
		"nothing-known-yet": {},
		"rows-left-out-before": {
			TotalGpuNodes: new(int32(8)), ReadyGpuNodes: new(int32(7)), TotalGpus: new(int32(8)), NodesOmitted: 7,
			Nodes: []v1.GpuNode{{Name: "a", Reason: v1.ReasonNodeNotReady}},
		},
	}
	for name, inv := range cases {
		t.Run(name, func(t *testing.T) {
			data := render(t, inv)
			var b strings.Builder
			for _, key := range []string{KeySummary, KeyNodes, KeyJSON} {
				b.WriteString("== " + key + "\n" + data[key])
				if !strings.HasSuffix(b.String(), "\n") {
					b.WriteString("\n")
				}
			}
			got := b.String()

			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("Render() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSummarySaysWhatIsUnknown(t *testing.T) {
	cases := map[string]struct {
		inv  v1.GpuInventoryStatus
		want string
	}{
		"everything is known": {
			inv:  v1.GpuInventoryStatus{TotalGpuNodes: new(int32(4)), ReadyGpuNodes: new(int32(0)), TotalGpus: new(int32(1)), UnknownGpuNodes: new(int32(0))},
			want: "gpu_nodes=4 ready=0 gpus=1\n",
		},
		"some nodes have no known count": {
			inv:  v1.GpuInventoryStatus{TotalGpuNodes: new(int32(4)), ReadyGpuNodes: new(int32(0)), TotalGpus: new(int32(1)), UnknownGpuNodes: new(int32(3))},
			want: "gpu_nodes=4 ready=0 gpus=1 unknown_nodes=3\n",
		},
		"no node has a known count": {
			inv:  v1.GpuInventoryStatus{TotalGpuNodes: new(int32(2)), ReadyGpuNodes: new(int32(2)), UnknownGpuNodes: new(int32(2))},
			want: "gpu_nodes=2 ready=2 gpus=unknown unknown_nodes=2\n",
		},
		"nothing has been read yet": {
			want: "gpu_nodes=unknown ready=unknown gpus=unknown\n",
		},
		"a product whose GPUs nobody counted or allocated": {
			inv: v1.GpuInventoryStatus{
				TotalGpuNodes: new(int32(1)), ReadyGpuNodes: new(int32(1)), TotalGpus: new(int32(0)),
				Products: []v1.ProductSummary{{Vendor: v1.VendorAMD, Nodes: 1, ReadyNodes: 1}},
			},
			want: "gpu_nodes=1 ready=1 gpus=0\n" +
				"<unlabeled> vendor=amd nodes=1 ready=1 gpus=unknown ready_gpus=unknown free=unknown largest_free=unknown\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, render(t, &tc.inv)[KeySummary]); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRowShowsWhatIsKnownOfANode(t *testing.T) {
	group := func(product string, count *int32) v1.GpuGroup { return v1.GpuGroup{Product: product, Count: count} }
	cases := map[string]struct {
		node v1.GpuNode
		want string
	}{
		"the row of the design": {
			node: homelab().Nodes[0],
			want: "nuc1 ready=false NVIDIA-GeForce-RTX-4070-Laptop-GPU-SHARED x1 mem=8188 vm-passthrough NodeStatusUnknown WorkloadModeMismatch\n",
		},
		"nothing but the node is known": {
			node: v1.GpuNode{Name: "a", Reason: v1.ReasonNodeNotReady},
			want: "a ready=false <unlabeled> x? mem=? ? NodeNotReady\n",
		},
		"a count of zero is not an unknown count": {
			node: v1.GpuNode{Name: "a", Reason: v1.ReasonNodeNotReady, GpuCount: new(int32(0))},
			want: "a ready=false <unlabeled> x0 mem=? ? NodeNotReady\n",
		},
		"the products of a node keep their order in every column": {
			node: v1.GpuNode{Name: "a", Ready: true, Reason: v1.ReasonOK, Gpus: []v1.GpuGroup{group("A", new(int32(4))), group("B", nil)}},
			want: "a ready=true A+B x4+x? mem=?+? ? OK\n",
		},
		"the node's count stands where its products have none": {
			node: v1.GpuNode{
				Name: "a", Ready: true, Reason: v1.ReasonOK, GpuCount: new(int32(6)), Gpus: []v1.GpuGroup{group("A", nil), group("B", nil)},
			},
			want: "a ready=true A+B x6 mem=?+? ? OK\n",
		},
		"a slice's memory is not a GPU's": {
			node: v1.GpuNode{Name: "a", Ready: true, Reason: v1.ReasonOK, Gpus: []v1.GpuGroup{{Product: "A", MemoryPerUnitMiB: new(int64(4864))}}},
			want: "a ready=true A x? mem=4864/unit ? OK\n",
		},
		"last-known facts say since when": {
			node: v1.GpuNode{Name: "a", Reason: v1.ReasonNodeNotReady, LastSeen: new(metav1.NewTime(time.Unix(0, 0)))},
			want: "a ready=false <unlabeled> x? mem=? ? NodeNotReady lastSeen=1970-01-01T00:00:00Z\n",
		},
		"several warnings are one word": {
			node: v1.GpuNode{Name: "a", Ready: true, Reason: v1.ReasonOK, Warnings: []v1.Warning{v1.WarningCordoned, v1.WarningSimulated}},
			want: "a ready=true <unlabeled> x? mem=? ? OK Cordoned,Simulated\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := render(t, &v1.GpuInventoryStatus{Nodes: []v1.GpuNode{tc.node}})[KeyNodes]
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOneLongNameDoesNotWidenTheTable(t *testing.T) {
	inv := &v1.GpuInventoryStatus{Nodes: []v1.GpuNode{
		{Name: strings.Repeat("n", 253), Reason: v1.ReasonNodeNotReady}, {Name: "short", Reason: v1.ReasonNodeNotReady},
	}}
	lines := strings.SplitAfter(render(t, inv)[KeyNodes], "\n")
	want := "short" + strings.Repeat(" ", maxColumn-len("short")+1) + "ready=false <unlabeled> x? mem=? ? NodeNotReady\n"
	if diff := cmp.Diff(want, lines[1]); diff != "" {
		t.Errorf("second row (-want +got):\n%s", diff)
	}
	if want := strings.Repeat("n", 253) + " ready=false"; !strings.HasPrefix(lines[0], want) {
		t.Errorf("first row = %q, want it to begin with %q", lines[0], want)
	}
}

func TestHostileValuesKeepTheirLineAndColumn(t *testing.T) {
	inv := hostile()
	data := render(t, inv)
	for key, text := range data {
		if !utf8.ValidString(text) {
			t.Errorf("%s is not valid UTF-8", key)
		}
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && key != KeyJSON && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%s has an unprintable character at byte %d: %q", key, i, text)
		}
	}
	if got, want := strings.Count(data[KeyNodes], "\n"), len(inv.Nodes); got != want {
		t.Errorf("nodes has %d lines, want %d:\n%s", got, want, data[KeyNodes])
	}
	if got, want := strings.Count(data[KeySummary], "\n"), 1+len(inv.Products); got != want {
		t.Errorf("summary has %d lines, want %d:\n%s", got, want, data[KeySummary])
	}
	for i, line := range strings.Split(strings.TrimSuffix(data[KeyNodes], "\n"), "\n") {
		if got, want := len(strings.Fields(line)), 7+min(len(inv.Nodes[i].Warnings), 1); got != want {
			t.Errorf("row %d has %d columns, want %d: %s", i, got, want, line)
		}
	}
	var doc struct{ Nodes []v1.GpuNode }
	if err := json.Unmarshal([]byte(data[KeyJSON]), &doc); err != nil {
		t.Fatalf("inventory.json: %v", err)
	}
	if diff := cmp.Diff(inv.Nodes[0].Message, doc.Nodes[0].Message); diff != "" {
		t.Errorf("message in the JSON (-want +got):\n%s", diff)
	}
}

func TestTimesThatMoveByThemselvesChangeNothing(t *testing.T) {
	before, after := homelab(), homelab()
	after.ObservedAt = new(metav1.NewTime(time.Unix(1_800_000_000, 0)))
	after.ObservedGeneration = 7
	for i := range after.Conditions {
		after.Conditions[i].LastTransitionTime = metav1.NewTime(time.Unix(1_800_000_000, 0))
		after.Conditions[i].ObservedGeneration = 7
	}
	if diff := cmp.Diff(render(t, before), render(t, after)); diff != "" {
		t.Errorf("Render() (-before +after):\n%s", diff)
	}
}

func TestRenderLeavesTheInventoryAlone(t *testing.T) {
	inv := mixedFleet()
	want := inv.DeepCopy()
	render(t, inv)
	if diff := cmp.Diff(want, inv); diff != "" {
		t.Errorf("inventory after Render() (-want +got):\n%s", diff)
	}
}

func TestJSONReadsBackAsTheStatus(t *testing.T) {
	for name, want := range map[string]*v1.GpuInventoryStatus{"homelab": homelab(), "mixed fleet": mixedFleet()} {
		t.Run(name, func(t *testing.T) {
			var got v1.GpuInventoryStatus
			if err := json.Unmarshal([]byte(render(t, want)[KeyJSON]), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, &got); diff != "" {
				t.Errorf("status read from the JSON (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJSONHasEveryFieldOfTheStatus(t *testing.T) {
	left := map[string]string{
		"ObservedAt":         "a time that is not content",
		"ObservedGeneration": "there is no spec that the ConfigMap answers",
	}
	doc := reflect.TypeFor[document]()
	status := reflect.TypeFor[v1.GpuInventoryStatus]()
	for want := range status.Fields() {
		if _, ok := left[want.Name]; ok {
			continue
		}
		got, ok := doc.FieldByName(want.Name)
		if !ok {
			t.Errorf("document has no field %s", want.Name)
			continue
		}
		if got.Tag.Get("json") != want.Tag.Get("json") {
			t.Errorf("document field %s has the JSON tag %q, want %q", want.Name, got.Tag.Get("json"), want.Tag.Get("json"))
		}
	}
}

func TestRenderRefusesWhatItCannotRender(t *testing.T) {
	cases := map[string]*v1.GpuInventoryStatus{
		"no inventory": nil,
		"more conditions than the API allows": {
			Conditions: make([]metav1.Condition, 20_000),
		},
	}
	for name, inv := range cases {
		t.Run(name, func(t *testing.T) {
			if data, err := Render(inv); err == nil {
				t.Errorf("Render() = %d bytes, want an error", size(data))
			}
		})
	}
}
