package memory

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// withoutAction leaves a change's action to a test of its own.
var withoutAction = cmpopts.IgnoreFields(inventory.Change{}, "Action")

// fleetOf200 is 200 Ready nodes of four kinds.
func fleetOf200() (fleet []seenNode) {
	const bus = "feature.node.kubernetes.io/pci-"
	kinds := []struct {
		labels map[string]string
		units  map[string]string
	}{
		{
			map[string]string{
				bus + "0302_10de.present": "true", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
				"nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "81559",
			},
			map[string]string{"nvidia.com/gpu": "8"},
		},
		{
			map[string]string{
				bus + "0302_10de.present": "true", "nvidia.com/gpu.product": "Tesla-T4-SHARED", "nvidia.com/gpu.count": "4", "nvidia.com/gpu.memory": "15360",
				"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing",
			},
			map[string]string{"nvidia.com/gpu": "16"},
		},
		{
			map[string]string{
				bus + "0302_10de.present": "true", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
				"nvidia.com/gpu.count": "8", "nvidia.com/gpu.memory": "81559", "nvidia.com/gpu.replicas": "0",
				"nvidia.com/mig.strategy": "mixed", "nvidia.com/mig-1g.10gb.count": "56",
			},
			map[string]string{"nvidia.com/mig-1g.10gb": "56"},
		},
		{
			map[string]string{bus + "1200_1002.present": "true", "amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM", "amd.com/gpu.vram": "192G"},
			map[string]string{"amd.com/gpu": "8"},
		},
	}
	for i := range 200 {
		kind := kinds[i%len(kinds)]
		n := &corev1.Node{}
		n.Name = fmt.Sprintf("node-%03d", i)
		n.Labels = maps.Clone(kind.labels)
		n.Status.Capacity = corev1.ResourceList{}
		for name, count := range kind.units {
			n.Status.Capacity[corev1.ResourceName(name)] = resource.MustParse(count)
		}
		n.Status.Allocatable = n.Status.Capacity.DeepCopy()
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		fleet = append(fleet, seenNode{name: n.Name, node: n})
	}
	return fleet
}

// snapshotOf reads a fleet into a status as it is stored.
func snapshotOf(t *testing.T, m *Store, fleet []seenNode, before v1.GpuInventoryStatus, now time.Time) v1.GpuInventoryStatus {
	t.Helper()
	var rows []v1.GpuNode
	for _, n := range fleet {
		if row, ok := n.recall(m, now); ok {
			rows = append(rows, row)
		}
	}
	next, _ := inventory.Next(before, inventory.Snapshot(rows), 1, now)
	return roundTrip(t, next)
}

func TestLabelsOf200NodesGoAndReturn(t *testing.T) {
	fleet := fleetOf200()
	lost := "200 nodes: node-000, node-001, node-002, node-003, node-004 and 195 more"
	cases := map[string]struct {
		loss  string // of seenNode.losses
		ready int32  // nodes, while it lasts
		gone  []inventory.Change
		back  []inventory.Change
	}{
		"all labels": {
			loss: "labels", ready: 200,
			gone: []inventory.Change{{Type: "Warning", Reason: "GpuFactsLost", Node: "", Message: lost}},
			back: []inventory.Change{{Type: "Normal", Reason: "GpuFactsRestored", Node: "", Message: lost}},
		},
		"the labels of node feature discovery": {loss: "NFD", ready: 200},
		"the labels that name NVIDIA GPUs": {
			loss: "nvidia.com", ready: 200,
			gone: []inventory.Change{{Type: "Warning", Reason: "GpuFactsLost", Node: "", Message: "150 nodes: node-000, node-001, node-002, node-004, node-005 and 145 more"}},
			back: []inventory.Change{{Type: "Normal", Reason: "GpuFactsRestored", Node: "", Message: "150 nodes: node-000, node-001, node-002, node-004, node-005 and 145 more"}},
		},
		"labels and resources": {
			loss: "everything",
			gone: []inventory.Change{{Type: "Warning", Reason: "GpuFactsLost", Node: "", Message: lost}, {Type: "Warning", Reason: "GpuNodeNotReady", Node: "", Message: lost}},
			back: []inventory.Change{{Type: "Normal", Reason: "GpuFactsRestored", Node: "", Message: lost}, {Type: "Normal", Reason: "GpuNodeReady", Node: "", Message: lost}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var less []seenNode
			for _, n := range fleet {
				less = append(less, n.losses()[tc.loss])
			}
			var m Store
			before := snapshotOf(t, &m, fleet, v1.GpuInventoryStatus{}, start)
			during := snapshotOf(t, &m, less, before, start.Add(time.Minute))
			again := snapshotOf(t, &m, less, during, start.Add(time.Hour))
			after := snapshotOf(t, &m, fleet, during, start.Add(2*time.Hour))

			if *before.TotalGpus != 50*8+50*4+50*8+50*8 || *during.ReadyGpuNodes != tc.ready {
				t.Errorf("%d GPUs, of which %d nodes stay ready, want %d", *before.TotalGpus, *during.ReadyGpuNodes, tc.ready)
			}
			if diff := cmp.Diff(totalsOf(before), totalsOf(during)); diff != "" {
				t.Errorf("totals (-before +during):\n%s", diff)
			}
			if diff := cmp.Diff(during, again); diff != "" {
				t.Errorf("an hour later (-during +again):\n%s", diff)
			}
			var restarted Store
			restarted.Seed(&during)
			if diff := cmp.Diff(during, snapshotOf(t, &restarted, less, during, start.Add(time.Hour))); diff != "" {
				t.Errorf("after a restart (-during +again):\n%s", diff)
			}
			for _, step := range []struct {
				status v1.GpuInventoryStatus
				want   bool
			}{{before, true}, {during, len(tc.gone) == 0}, {after, true}} {
				if got := meta.IsStatusConditionTrue(step.status.Conditions, v1.ConditionComplete); got != step.want {
					t.Errorf("Complete is %v, want %v", got, step.want)
				}
			}
			if diff := cmp.Diff(tc.gone, inventory.Aggregate(inventory.Changes(&before, &during)), withoutAction); diff != "" {
				t.Errorf("Events of the loss (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.back, inventory.Aggregate(inventory.Changes(&during, &after)), withoutAction); diff != "" {
				t.Errorf("Events of the return (-want +got):\n%s", diff)
			}
			before.ObservedAt, after.ObservedAt = nil, nil
			for i := range before.Conditions {
				before.Conditions[i].LastTransitionTime, after.Conditions[i].LastTransitionTime = metav1.Time{}, metav1.Time{}
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("(-before +after):\n%s", diff)
			}
		})
	}
}

// totalsOf is what does not change while facts are only remembered.
func totalsOf(s v1.GpuInventoryStatus) string {
	var b strings.Builder
	fmt.Fprintln(&b, *s.TotalGpuNodes, *s.TotalGpus, *s.UnknownGpuNodes)
	for _, p := range s.Products {
		fmt.Fprintln(&b, p.Vendor, p.Product, p.Nodes, *p.Gpus)
	}
	return b.String()
}

func BenchmarkRecall(b *testing.B) {
	var m Store
	id := Node{Name: "a", UID: "1", Created: start}
	steps := map[string]*v1.GpuNode{"live": labelled(8), "labels gone": wiped(8)}
	m.Recall(id, *labelled(8), true, start)
	for name, n := range steps {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Recall(id, *n, true, start)
			}
		})
	}
}
