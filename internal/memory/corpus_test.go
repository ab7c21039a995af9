package memory

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
)

// seenNode is a Node of the corpus with what DRA drivers publish for it.
type seenNode struct {
	name    string
	node    *corev1.Node
	devices *dra.Devices
}

// identity is that of the Node, as the shells make it.
func (s seenNode) identity() Node {
	return Node{Name: s.node.Name, UID: "uid", Created: start.Add(-time.Hour), Hardware: gpu.HardwareOf(labelset.Of(s.node.Labels))}
}

// recall reads the Node and completes the reading.
func (s seenNode) recall(m *Store, now time.Time) (v1.GpuNode, bool) {
	reading, ok := gpu.Read(gpu.FactsOf(s.node, gpu.Options{}, nil), s.devices, gpu.Options{})
	return m.Recall(s.identity(), reading.Row, ok, now)
}

// read is the reading without memory.
func (s seenNode) read() v1.GpuNode {
	reading, _ := gpu.Read(gpu.FactsOf(s.node, gpu.Options{}, nil), s.devices, gpu.Options{})
	return reading.Row
}

func (s seenNode) with(change func(*seenNode)) seenNode {
	s.node = s.node.DeepCopy()
	change(&s)
	return s
}

// losses are the ways in which evidence goes: piece by piece, kind by kind, and all at once.
func (s seenNode) losses() map[string]seenNode {
	out := map[string]seenNode{
		"labels":      s.with(func(l *seenNode) { l.node.Labels = nil }),
		"nvidia.com":  s.with(func(l *seenNode) { dropLabels(l.node, "nvidia.com/") }),
		"NFD":         s.with(func(l *seenNode) { dropLabels(l.node, "feature.node.kubernetes.io/") }),
		"devices":     s.with(func(l *seenNode) { l.devices = nil }),
		"annotations": s.with(func(l *seenNode) { l.node.Annotations = nil }),
		"resources":   s.with(dropResources),
		"plugins":     s.with(emptyResources),
		"everything": s.with(func(l *seenNode) {
			l.node.Labels, l.node.Annotations, l.devices = nil, nil, nil
			dropResources(l)
		}),
	}
	for key := range s.node.Labels {
		if key == "amd.com/gpu.compute-memory-partition" {
			continue // it alone tells partitions from GPUs; the labeller writes it with all others, or none
		}
		out["label "+key] = s.with(func(l *seenNode) { delete(l.node.Labels, key) })
	}
	for name := range s.node.Status.Capacity {
		out["resource "+string(name)] = s.with(func(l *seenNode) {
			delete(l.node.Status.Capacity, name)
			delete(l.node.Status.Allocatable, name)
		})
	}
	return out
}

func dropLabels(n *corev1.Node, prefix string) {
	for key := range n.Labels {
		if strings.HasPrefix(key, prefix) {
			delete(n.Labels, key)
		}
	}
}

func dropResources(s *seenNode) {
	s.node.Status.Capacity, s.node.Status.Allocatable = corev1.ResourceList{}, corev1.ResourceList{}
}

// emptyResources is what the kubelet leaves of the resources of plugins that have gone.
func emptyResources(s *seenNode) {
	for _, list := range []corev1.ResourceList{s.node.Status.Capacity, s.node.Status.Allocatable} {
		for name, q := range list {
			if strings.Contains(string(name), "/") {
				q.Set(0)
				list[name] = q
			}
		}
	}
}

func TestWhateverEvidenceGoesAndReturnsNoFactIsLost(t *testing.T) {
	for _, c := range loadCorpus(t) {
		for lost, less := range c.losses() {
			t.Run(c.name+" without "+lost, func(t *testing.T) { loseAndRestore(t, c, less) })
		}
	}
}

// loseAndRestore looks at a Node before, while and after evidence is missing.
func loseAndRestore(t *testing.T, whole, less seenNode) {
	var m Store
	before, isGPU := whole.recall(&m, start)
	if !isGPU {
		return
	}
	during, still := less.recall(&m, start.Add(time.Minute))
	if !still {
		if saysMore(joined(before)) {
			t.Fatalf("no GPU node any more; it was %s", inventory.Describe(&before))
		}
		return
	}
	for _, fault := range forgotten(before, during, less.read()) {
		t.Errorf("%s; before, during:\n%s\n%s", fault, dump(before), dump(during))
	}
	again, _ := less.recall(&m, start.Add(time.Hour))
	if diff := cmp.Diff(during, again); diff != "" {
		t.Errorf("an hour later (-during +again):\n%s", diff)
	}
	restarted := Store{}
	written, _ := inventory.Next(v1.GpuInventoryStatus{}, inventory.Snapshot([]v1.GpuNode{during}), 1, start.Add(time.Minute))
	written = roundTrip(t, written)
	restarted.Seed(&written)
	afterRestart, _ := less.recall(&restarted, start.Add(2*time.Hour))
	if diff := cmp.Diff(during, afterRestart); diff != "" {
		t.Errorf("after a restart (-during +restarted):\n%s", diff)
	}
	for name, memory := range map[string]*Store{"this process": &m, "the next one": &restarted} {
		restored, _ := whole.recall(memory, start.Add(3*time.Hour))
		if diff := cmp.Diff(before, restored); diff != "" {
			t.Errorf("restored in %s (-before +restored):\n%s", name, diff)
		}
	}
}

// forgotten lists what a row has forgotten of an earlier one, or says that nobody has said. live is the reading without
// memory.
func forgotten(before, during, live v1.GpuNode) (faults []string) {
	if before.GpuCount != nil && (during.GpuCount == nil || *during.GpuCount > *before.GpuCount) {
		faults = append(faults, "the count is another")
	}
	if before.GpuCount == nil && during.GpuCount != nil && live.GpuCount == nil {
		faults = append(faults, "a count has come up")
	}
	for _, g := range before.Gpus {
		i := slices.IndexFunc(during.Gpus, func(h v1.GpuGroup) bool { return h.Vendor == g.Vendor && inventory.SameProduct(h.Product, g.Product) })
		if i < 0 && g.Product != "" && !namesOne(live) {
			faults = append(faults, "the product "+g.Product+" is gone")
		}
		if i >= 0 && g.MemoryMiB != nil && (during.Gpus[i].MemoryMiB == nil || *g.MemoryMiB != *during.Gpus[i].MemoryMiB) {
			faults = append(faults, "the memory is another")
		}
	}
	if divided(before.Sharing) && !divided(during.Sharing) && live.GpuCount == nil {
		faults = append(faults, "sharing is gone")
	}
	if slices.ContainsFunc(during.Gpus, func(g v1.GpuGroup) bool { return g.Source == v1.SourceLastKnown }) != (during.LastSeen != nil) {
		faults = append(faults, "lastSeen without last-known facts, or the other way round")
	}
	return faults
}

func namesOne(n v1.GpuNode) bool {
	return slices.ContainsFunc(n.Gpus, func(g v1.GpuGroup) bool { return g.Product != "" })
}

func joined(n v1.GpuNode) (g v1.GpuGroup) {
	for _, h := range n.Gpus {
		if saysMore(h) {
			return h
		}
	}
	return g
}

func dump(n v1.GpuNode) string {
	b, err := yaml.Marshal(n)
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(string(b), "\n", " | ")
}

// TestAnyOrderOfLossesEndsWhereItBegan goes through random losses and returns.
func TestAnyOrderOfLossesEndsWhereItBegan(t *testing.T) {
	for _, c := range loadCorpus(t) {
		losses := c.losses()
		var names []string
		for name := range losses {
			names = append(names, name)
		}
		slices.Sort(names)
		rng := rand.New(rand.NewPCG(1, 2))
		var m Store
		before, isGPU := c.recall(&m, start)
		if !isGPU {
			continue
		}
		now := start
		var path []string
		for range 12 {
			name := names[rng.IntN(len(names))]
			path = append(path, name)
			now = now.Add(time.Minute)
			row, still := losses[name].recall(&m, now)
			if still && before.GpuCount != nil && (row.GpuCount == nil || *row.GpuCount < 1 || *row.GpuCount > *before.GpuCount) {
				t.Errorf("%s without %v: %s", c.name, path, dump(row))
			}
		}
		restored, _ := c.recall(&m, now.Add(time.Minute))
		if diff := cmp.Diff(before, restored); diff != "" {
			t.Errorf("%s after %v (-before +restored):\n%s", c.name, path, diff)
		}
	}
}

// start is the time at which everything begins, in whole seconds as the API stores it.
var start = time.Date(2026, 7, 10, 15, 0, 0, 0, time.UTC)

// loadCorpus reads the Nodes of the corpus of the engine.
func loadCorpus(t testing.TB) []seenNode {
	t.Helper()
	files, err := filepath.Glob("../gpu/testdata/corpus/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var out []seenNode
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := seenNode{name: strings.TrimSuffix(filepath.Base(file), ".yaml")}
		var devices []resourcev1.ResourceSlice
		for doc := range bytes.SplitSeq(data, []byte("\n---\n")) {
			node, slice, err := decodeDocument(doc)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if node != nil {
				c.node = node
			}
			if slice != nil {
				devices = append(devices, *slice)
			}
		}
		c.devices = dra.DevicesByNode(devices)[c.node.Name]
		out = append(out, c)
	}
	return out
}

// decodeDocument reads a Node or a ResourceSlice; of another kind, neither.
func decodeDocument(doc []byte) (*corev1.Node, *resourcev1.ResourceSlice, error) {
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal(doc, &meta); err != nil {
		return nil, nil, fmt.Errorf("decode: %w", err)
	}
	var node corev1.Node
	var now resourcev1.ResourceSlice
	var beta1 resourcev1beta1.ResourceSlice
	var beta2 resourcev1beta2.ResourceSlice
	switch meta.APIVersion + " " + meta.Kind {
	case "v1 Node":
		return &node, nil, yaml.Unmarshal(doc, &node)
	case "resource.k8s.io/v1 ResourceSlice":
		return nil, &now, yaml.Unmarshal(doc, &now)
	case "resource.k8s.io/v1beta1 ResourceSlice":
		err := yaml.Unmarshal(doc, &beta1)
		now = dra.FromV1beta1(&beta1)
		return nil, &now, err
	case "resource.k8s.io/v1beta2 ResourceSlice":
		err := yaml.Unmarshal(doc, &beta2)
		now = dra.FromV1beta2(&beta2)
		return nil, &now, err
	}
	return nil, nil, nil
}
