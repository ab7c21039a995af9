package fleet

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
)

func gpuNode(name string, labels map[string]string) *corev1.Node {
	units := corev1.ResourceList{"cpu": resource.MustParse("64"), "nvidia.com/gpu": resource.MustParse("8")}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1", Labels: map[string]string{
			"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "8",
		}},
		Status: corev1.NodeStatus{Capacity: units, Allocatable: units.DeepCopy(), Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
		}},
	}
	maps.Copy(n.Labels, labels)
	return n
}

func selector(t *testing.T, s string) labels.Selector {
	t.Helper()
	parsed, err := labels.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestFleetTellsWhoIsConcerned(t *testing.T) {
	notReady := func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }
	noGPUs := func(n *corev1.Node) { n.Labels, n.Status = nil, corev1.NodeStatus{} }
	relabel := func(n *corev1.Node) { n.Labels["pool"] = "green" }
	heartbeat := func(n *corev1.Node) {
		n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(time.Unix(1, 0))
		n.ResourceVersion = "2"
		n.Status.Images = []corev1.ContainerImage{{Names: []string{"x"}}}
	}
	cases := map[string]struct {
		before, after func(*corev1.Node) // nil: as it is
		gone, added   bool
		want          []string // of the selectors below
	}{
		"a node comes":                      {added: true, want: []string{"", "pool=blue"}},
		"a node goes":                       {gone: true, want: []string{"", "pool=blue"}},
		"a node fails":                      {after: notReady, want: []string{"", "pool=blue"}},
		"a heartbeat":                       {after: heartbeat},
		"a node moves to another pool":      {after: relabel, want: []string{"pool=blue", "pool=green"}},
		"a node loses its GPUs":             {after: noGPUs, want: []string{"", "pool=blue"}},
		"a node gets GPUs":                  {before: noGPUs, want: []string{"", "pool=blue"}},
		"a node without GPUs does anything": {before: noGPUs, after: func(n *corev1.Node) { noGPUs(n); n.Spec.Unschedulable = true }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var told []Change
			f := New(gpu.Options{}, false)
			f.OnChange(func(c Change) { told = append(told, c) })
			node := func(mod func(*corev1.Node)) *gpu.Facts {
				n := gpuNode("a", map[string]string{"pool": "blue"})
				if mod != nil {
					mod(n)
				}
				return f.factsOf(n)
			}
			if !tc.added {
				f.setNode(node(tc.before))
				told = nil
			}
			if tc.gone {
				f.removeNode("a")
			} else {
				f.setNode(node(tc.after))
			}
			var got []string
			for _, s := range []string{"", "pool=blue", "pool=green"} {
				for _, c := range told {
					if c.Concerns(selector(t, s)) {
						got = append(got, s)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("concerned selectors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALabelMovesANode(t *testing.T) {
	var told []Change
	f := New(gpu.Options{}, false)
	f.setNode(f.factsOf(gpuNode("a", map[string]string{"rack": "1"})))
	f.OnChange(func(c Change) { told = append(told, c) })
	f.setNode(f.factsOf(gpuNode("a", map[string]string{"rack": "2"})))
	if len(told) != 1 || !told[0].Moves(labels.Everything()) || told[0].Concerns(labels.Everything()) {
		t.Errorf("told %+v, want one move that concerns nobody else", told)
	}
	if len(told) == 1 && told[0].Moves(selector(t, "rack=1")) {
		t.Error("a node that has left is told to move within")
	}
}

func TestAHeartbeatIsNotReadAnew(t *testing.T) {
	f := New(gpu.Options{}, false)
	f.setNode(f.factsOf(gpuNode("a", nil)))
	before := f.nodes["a"]
	beat := gpuNode("a", nil)
	beat.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(time.Unix(1, 0))
	f.setNode(f.factsOf(beat))
	if f.nodes["a"] != before {
		t.Error("the node was read anew")
	}
}

// TestAHeartbeatCostsLittle counts allocations rather than time. Reading the node anew would add some hundred.
func TestAHeartbeatCostsLittle(t *testing.T) {
	f := New(gpu.Options{}, false)
	f.setNode(f.factsOf(gpuNode("a", nil)))
	beats := make([]*corev1.Node, 200)
	for i := range beats {
		beats[i] = gpuNode("a", nil)
	}
	i := 0
	allocations := testing.AllocsPerRun(len(beats)-1, func() {
		f.setNode(f.factsOf(beats[i]))
		i++
	})
	if allocations > 20 {
		t.Errorf("a heartbeat makes %.0f allocations, want at most 20", allocations)
	}
}

func TestReplaceTellsOnlyWhatDiffers(t *testing.T) {
	f := New(gpu.Options{}, false)
	named := func(name string) *gpu.Facts { return f.factsOf(gpuNode(name, nil)) }
	f.replaceNodes([]*gpu.Facts{named("a"), named("b"), named("c")})
	var told int
	f.OnChange(func(Change) { told++ })
	f.replaceNodes([]*gpu.Facts{named("a"), named("b"), named("d")})
	if told != 2 {
		t.Errorf("told of %d changes, want that c went and d came", told)
	}
	if got := len(f.Rows(labels.Everything())); got != 3 {
		t.Errorf("%d rows, want 3", got)
	}
}

func TestDevicesComeAndGo(t *testing.T) {
	f := New(gpu.Options{}, false)
	bare := gpuNode("a", nil)
	bare.Labels, bare.Status.Capacity, bare.Status.Allocatable = nil, nil, nil
	f.setNode(f.factsOf(bare.DeepCopy()))
	if rows := f.Rows(labels.Everything()); rows != nil {
		t.Fatalf("a node without evidence has a row: %v", rows)
	}
	f.setDevices(map[string]*dra.Devices{"a": {Pools: []dra.Pool{{
		Driver: "gpu.nvidia.com", Name: "a", Slices: 1, WantSlices: 1,
		Devices: []dra.Device{{Name: "gpu-0", Type: "gpu", UUID: "GPU-0"}},
	}}}})
	if rows := f.Rows(labels.Everything()); len(rows) != 1 || *rows[0].GpuCount != 1 {
		t.Errorf("rows with a device: %+v", rows)
	}
	f.setDevices(nil)
	rows := f.Rows(labels.Everything())
	if len(rows) != 1 || *rows[0].GpuCount != 1 || rows[0].Gpus[0].Source != v1.SourceLastKnown || rows[0].Ready {
		t.Errorf("rows without the device: %+v, want the last known one, not ready", rows)
	}
	f.removeNode("a")
	f.setNode(f.factsOf(bare.DeepCopy()))
	if rows := f.Rows(labels.Everything()); rows != nil {
		t.Errorf("a new Node has the rows of the old one: %v", rows)
	}
}

// TestPackingLosesNothing reads every known case with labels that share templates, and without.
func TestPackingLosesNothing(t *testing.T) {
	files, err := filepath.Glob("../gpu/testdata/corpus/*.yaml")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d cases found: %v", len(files), err)
	}
	f := New(gpu.Options{}, false)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(content), "\n---") {
			var node corev1.Node
			if err := yaml.Unmarshal([]byte(document), &node); err != nil || node.Kind != "Node" {
				continue
			}
			alone, once, again := gpu.FactsOf(&node, gpu.Options{}, nil), f.factsOf(&node), f.factsOf(&node)
			want, wantOK := gpu.Read(alone, nil, gpu.Options{})
			got, ok := gpu.Read(once, nil, gpu.Options{})
			if ok != wantOK || !reflect.DeepEqual(want, got) {
				t.Errorf("%s (-alone +packed):\n%s", filepath.Base(file), cmp.Diff(want, got))
			}
			if !once.Equal(again) || !once.Equal(alone) || !alone.Equal(once) {
				t.Errorf("%s: packing makes another", filepath.Base(file))
			}
		}
	}
}

func TestNoLabelsAreNotTheSameAsSome(t *testing.T) {
	a, b := labelset.Of(map[string]string{"a": "1"}), labelset.Of(map[string]string{"a": "1"})
	if !sameLabels(a, b) || sameLabels(a, nil) || sameLabels(nil, b) || !sameLabels(nil, nil) {
		t.Error("no labels are the same as some, or not as none")
	}
}
