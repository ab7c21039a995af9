package gpu

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// reasons are all reasons that a row can have.
var reasons = func() []v1.Reason {
	out := []v1.Reason{v1.ReasonOK}
	for _, c := range checks {
		out = append(out, c.reason)
	}
	return out
}()

// faultsOf lists what must not be true of any row, whatever the Node says.
func faultsOf(n *corev1.Node, row v1.GpuNode) []string {
	var out []string
	forbid := func(bad bool, format string, args ...any) {
		if bad {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	var ready bool
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			if ready = c.Status == corev1.ConditionTrue; !ready {
				break
			}
		}
	}
	forbid(row.Ready && !ready, "ready, and the Node's Ready is not True")
	forbid(row.Ready && n.DeletionTimestamp != nil, "ready, and the Node is being deleted")
	forbid(row.Ready && !anyAllocatable(&row), "ready without an allocatable unit")
	forbid(row.Ready != (row.Reason == v1.ReasonOK), "ready %v with reason %s", row.Ready, row.Reason)
	forbid(!slices.Contains(reasons, row.Reason), "reason %q", row.Reason)
	forbid(!row.Ready && row.Message == "", "not ready without a message")
	forbid(row.GpuCount != nil && *row.GpuCount < 1, "gpuCount %s: no source says that there are none", number(row.GpuCount))
	forbid(len(row.Gpus) == 0 || len(row.Gpus) > maxGroups, "%d groups", len(row.Gpus))
	forbid(len(row.Resources) > maxResources, "%d resources", len(row.Resources))
	forbid(!slices.IsSorted(row.Warnings), "warnings %v", row.Warnings)
	forbid(len(slices.Compact(slices.Clone(row.Warnings))) != len(row.Warnings), "warnings %v", row.Warnings)
	forbid(len(row.Message) > maxText || !utf8.ValidString(row.Message) || strings.ContainsFunc(row.Message, unprintable), "message %q", row.Message)
	for _, g := range row.Gpus {
		forbid(g.Count != nil && *g.Count < 1, "count %s of %s", number(g.Count), g.Product)
		forbid(g.MemoryMiB != nil && (*g.MemoryMiB < 1 || *g.MemoryMiB > maxMiB), "memory %s", number(g.MemoryMiB))
		forbid(g.MemoryPerUnitMiB != nil && (*g.MemoryPerUnitMiB < 1 || *g.MemoryPerUnitMiB > maxMiB), "memory %s", number(g.MemoryPerUnitMiB))
		forbid(len(g.Product) > maxName || !utf8.ValidString(g.Product), "product %q", g.Product)
		forbid(len(g.Variant) > maxName || !utf8.ValidString(g.Variant), "variant %q", g.Variant)
	}
	for _, u := range row.Resources {
		forbid(u.Allocatable < 0 || u.Allocatable > u.Capacity || u.Capacity < 1 || u.Capacity > maxUnits, "%+v", u)
	}
	return out
}

// variations are the Nodes that come from removing each piece of evidence in turn.
func variations(n *corev1.Node) map[string]*corev1.Node {
	out := map[string]*corev1.Node{}
	vary := func(name string, change func(*corev1.Node)) {
		c := n.DeepCopy()
		change(c)
		out[name] = c
	}
	for k := range n.Labels {
		vary("without label "+k, func(c *corev1.Node) { delete(c.Labels, k) })
		vary("with empty label "+k, func(c *corev1.Node) { c.Labels[k] = "" })
		vary("with senseless label "+k, func(c *corev1.Node) { c.Labels[k] = "-9e99" })
	}
	for k := range n.Annotations {
		vary("without annotation "+k, func(c *corev1.Node) { delete(c.Annotations, k) })
	}
	for k := range n.Status.Capacity {
		vary("without capacity "+string(k), func(c *corev1.Node) { delete(c.Status.Capacity, k) })
		vary("without allocatable "+string(k), func(c *corev1.Node) { delete(c.Status.Allocatable, k) })
		vary("without both "+string(k), func(c *corev1.Node) { delete(c.Status.Capacity, k); delete(c.Status.Allocatable, k) })
	}
	for i := range n.Status.Conditions {
		vary("without condition "+string(n.Status.Conditions[i].Type), func(c *corev1.Node) {
			c.Status.Conditions = slices.Delete(c.Status.Conditions, i, i+1)
		})
	}
	vary("without status", func(c *corev1.Node) { c.Status = corev1.NodeStatus{} })
	vary("without labels", func(c *corev1.Node) { c.Labels = nil })
	return out
}

func TestRemovingEvidenceNeverInventsAnything(t *testing.T) {
	for _, c := range loadCorpus(t) {
		all := variations(c.node)
		all["as it is"] = c.node
		for name, n := range all {
			for _, devices := range []*dra.Devices{nil, c.devices()} {
				reading, ok := readNode(n, devices, Options{})
				if !ok {
					continue
				}
				for _, fault := range faultsOf(n, reading.Row) {
					t.Errorf("%s %s: %s", c.name, name, fault)
				}
			}
		}
	}
}

func TestLosingALabelNeverRaisesTheCount(t *testing.T) {
	for _, c := range loadCorpus(t) {
		full, ok := c.read()
		if !ok || full.Row.GpuCount == nil {
			continue
		}
		for k := range c.node.Labels {
			n := c.node.DeepCopy()
			delete(n.Labels, k)
			less, _ := readNode(n, c.devices(), Options{})
			if n := less.Row.GpuCount; n != nil && *n > *full.Row.GpuCount && !explained(k) {
				t.Errorf("%s without %s: %d GPUs instead of %d", c.name, k, *n, *full.Row.GpuCount)
			}
		}
	}
}

// explained are labels that alone tell slices and shares from GPUs, so that without them units are taken for GPUs.
func explained(label string) bool {
	return label == labelGKEPartition || label == labelCount || strings.HasPrefix(label, labelIntelDevice)
}

func TestMapOrderChangesNothing(t *testing.T) {
	for _, c := range loadCorpus(t) {
		want, _ := c.read()
		for range 20 {
			n := c.node.DeepCopy()
			n.Labels = maps.Collect(maps.All(c.node.Labels))
			slices.Reverse(n.Status.Conditions)
			got, _ := readNode(n, c.devices(), Options{})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-first +later):\n%s", c.name, diff)
			}
		}
	}
}

func TestSliceOrderChangesNothing(t *testing.T) {
	for _, c := range loadCorpus(t) {
		want := dra.DevicesByNode(c.slices)
		reversed := slices.Clone(c.slices)
		slices.Reverse(reversed)
		for i := range reversed {
			reversed[i] = *reversed[i].DeepCopy()
			slices.Reverse(reversed[i].Spec.Devices)
		}
		if diff := cmp.Diff(want, dra.DevicesByNode(reversed)); diff != "" {
			t.Errorf("%s (-forward +backward):\n%s", c.name, diff)
		}
	}
}

func TestHeartbeatsChangeNothing(t *testing.T) {
	for _, c := range loadCorpus(t) {
		later := c.node.DeepCopy()
		later.ResourceVersion = "99"
		for i := range later.Status.Conditions {
			later.Status.Conditions[i].LastHeartbeatTime = metav1.NewTime(time.Unix(2e9, 0))
		}
		if !FactsOf(c.node, Options{}, nil).Equal(FactsOf(later, Options{}, nil)) {
			t.Errorf("%s: a heartbeat is a change", c.name)
		}
		if later.Labels == nil {
			later.Labels = map[string]string{}
		}
		later.Labels["nvidia.com/gfd.timestamp"] = "1726000000"
		later.Labels["topology.kubernetes.io/zone"] = "b"
		if !sameRow(c.node, later) {
			t.Errorf("%s: gfd.timestamp is a change", c.name)
		}
	}
}

// sameRow reports whether two Nodes have the same row, or both none.
func sameRow(a, b *corev1.Node) bool {
	before, bok := readNode(a, nil, Options{})
	after, aok := readNode(b, nil, Options{})
	return bok == aok && cmp.Equal(before.Row, after.Row)
}

func TestAFlipBetweenProductsIsNoChange(t *testing.T) {
	big := node(labels("gpu.product=NVIDIA-A100-SXM4-80GB", "gpu.count=4", "gpu.memory=81920", "gpu.family=ampere"), offers("gpu", "5", "5"))
	small := node(labels("gpu.product=NVIDIA-DGX-Display", "gpu.count=1", "gpu.memory=4096", "gpu.family=ampere"), offers("gpu", "5", "5"))
	if !sameRow(big, small) {
		t.Error("a flip between products is a change")
	}
}

func TestReadLeavesItsInputAlone(t *testing.T) {
	for _, c := range loadCorpus(t) {
		facts, devices := FactsOf(c.node, Options{}, nil), c.devices()
		Read(facts, devices, Options{})
		if want := FactsOf(c.node, Options{}, nil); !reflect.DeepEqual(want, facts) {
			t.Errorf("%s: Read() changed the facts: %+v, want %+v", c.name, facts, want)
		}
		if diff := cmp.Diff(c.devices(), devices); diff != "" {
			t.Errorf("%s: Read() changed the devices (-before +after):\n%s", c.name, diff)
		}
	}
}
