package inventory

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

func TestSnapshotTotals(t *testing.T) {
	type totals struct {
		Nodes, Ready, Unknown, Gpus, ReadyGpus *int32
	}
	n := func(i int32) *int32 { return &i }
	cases := map[string]struct {
		rows []v1.GpuNode
		want totals
	}{
		"no GPU nodes are a known zero": {
			want: totals{n(0), n(0), n(0), n(0), n(0)},
		},
		"known counts add up": {
			rows: []v1.GpuNode{row("a", 8), row("b", 4, notReady(v1.ReasonNodeNotReady))},
			want: totals{n(2), n(1), n(0), n(12), n(8)},
		},
		"an unknown count is left out and told": {
			rows: []v1.GpuNode{row("a", 8), row("b", 0, unlabelled)},
			want: totals{n(2), n(2), n(1), n(8), n(8)},
		},
		"only unknown counts are unknown, not zero": {
			rows: []v1.GpuNode{row("a", 0, unlabelled)},
			want: totals{n(1), n(1), n(1), nil, nil},
		},
		"no GPU is ready on nodes that are not ready, known count or not": {
			rows: []v1.GpuNode{row("a", 0, unlabelled, notReady(v1.ReasonNodeStatusUnknown))},
			want: totals{n(1), n(0), n(1), nil, n(0)},
		},
		"an unhealthy GPU is known and not ready": {
			rows: []v1.GpuNode{row("a", 8, units("nvidia.com/gpu", 8, 7))},
			want: totals{n(1), n(1), n(0), n(8), n(7)},
		},
		"the replicas of one time-sliced GPU are one lost GPU": {
			rows: []v1.GpuNode{row("a", 4, sharing(v1.SharingTimeSlicing, "SHARED"), units("nvidia.com/gpu", 16, 12))},
			want: totals{n(1), n(1), n(0), n(4), n(3)},
		},
		"one bad MIG slice makes its GPU no longer wholly usable": {
			rows: []v1.GpuNode{row("a", 8, sharing(v1.SharingMIG, "MIG-1g.10gb"), units("nvidia.com/gpu", 56, 55))},
			want: totals{n(1), n(1), n(0), n(8), n(7)},
		},
		"with mixed MIG the units of nvidia.com/gpu are whole GPUs": {
			rows: []v1.GpuNode{row("a", 8, sharing(v1.SharingMIG, "MIG-mixed"), units("nvidia.com/gpu", 4, 0), units("nvidia.com/mig-1g.10gb", 28, 28))},
			want: totals{n(1), n(1), n(0), n(8), n(4)},
		},
		"GPUs that no unit stands for are not ready": {
			rows: []v1.GpuNode{row("a", 8, units("nvidia.com/gpu", 7, 7))},
			want: totals{n(1), n(1), n(0), n(8), n(7)},
		},
		"GPUs of a vendor without a driver are not ready beside those of another that has one": {
			rows: []v1.GpuNode{row("a", 2, func(n *v1.GpuNode) {
				n.Gpus = append(n.Gpus, v1.GpuGroup{Vendor: v1.VendorIntel, Product: "Flex_170", Count: new(int32(3))})
				n.GpuCount = new(int32(5))
			}, units("nvidia.com/gpu", 2, 0), units("gpu.intel.com/i915", 3, 3))},
			want: totals{n(1), n(1), n(0), n(5), n(3)},
		},
		"units of a name that only an option knows are no other vendor's": {
			rows: []v1.GpuNode{row("a", 2, func(n *v1.GpuNode) {
				n.Gpus = append(n.Gpus, v1.GpuGroup{Vendor: v1.VendorUnknown, Count: new(int32(2))})
				n.GpuCount = new(int32(4))
			}, units("example.com/accelerator", 2, 2))},
			want: totals{n(1), n(1), n(0), n(4), n(4)},
		},
		"absurd counts do not wrap round": {
			rows: []v1.GpuNode{row("a", math.MaxInt32), row("b", math.MaxInt32)},
			want: totals{n(2), n(2), n(0), n(math.MaxInt32), n(math.MaxInt32)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := Snapshot(tc.rows)
			got := totals{s.TotalGpuNodes, s.ReadyGpuNodes, s.UnknownGpuNodes, s.TotalGpus, s.ReadyGpus}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Snapshot() totals (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSnapshotRows(t *testing.T) {
	a100 := func(n *v1.GpuNode) { n.Gpus[0].Product = "NVIDIA-A100" }
	s := Snapshot([]v1.GpuNode{
		row("z", 8, func(n *v1.GpuNode) { n.Gpus[0].Product = "NVIDIA H100 80GB HBM3" }), row("b", 4, a100, notReady(v1.ReasonNodeNotReady)), row("a", 2),
		row("c", 0, unlabelled, notReady(v1.ReasonNodeNotReady)),
	})
	var order []string
	for _, n := range s.Nodes {
		order = append(order, n.Name)
	}
	if diff := cmp.Diff([]string{"b", "c", "a", "z"}, order); diff != "" {
		t.Errorf("rows that are not ready come first, then names (-want +got):\n%s", diff)
	}
	products := []v1.ProductSummary{
		{Vendor: v1.VendorNVIDIA, Nodes: 1, ReadyGpus: new(int32(0)), FreeGpus: new(int32(0)), LargestFree: new(int32(0))},
		{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-A100", Nodes: 1, Gpus: new(int32(4)), ReadyGpus: new(int32(0)), FreeGpus: new(int32(0)), LargestFree: new(int32(0))},
		{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-H100-80GB-HBM3", Nodes: 2, ReadyNodes: 2, Gpus: new(int32(10)), ReadyGpus: new(int32(10))},
	}
	if diff := cmp.Diff(products, s.Products); diff != "" {
		t.Errorf("products (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]v1.ResourceSummary{{Name: "nvidia.com/gpu", Capacity: 14, Allocatable: 14}}, s.Resources); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

func TestSnapshotConditions(t *testing.T) {
	type want struct {
		status          metav1.ConditionStatus
		reason, message string
	}
	many := make([]v1.GpuNode, 0, 7)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		many = append(many, row(name, 1, notReady(v1.ReasonNodeNotReady)))
	}
	cases := map[string]struct {
		rows              []v1.GpuNode
		healthy, complete want
	}{
		"no GPU node": {
			healthy:  want{metav1.ConditionTrue, "NoGpuNodes", "no Node shows any evidence of a GPU; if there should be one, see which labels and resources it has"},
			complete: want{metav1.ConditionTrue, "AllRead", "the product and the count of every GPU node were read from a live source"},
		},
		"all well": {
			rows:     []v1.GpuNode{row("a", 8)},
			healthy:  want{metav1.ConditionTrue, "AllReady", "every GPU node is ready and every known GPU is allocatable"},
			complete: want{metav1.ConditionTrue, "AllRead", "the product and the count of every GPU node were read from a live source"},
		},
		"a node not ready and a GPU unhealthy": {
			rows:     []v1.GpuNode{row("a", 8, notReady(v1.ReasonNodeNotReady)), row("b", 8, units("nvidia.com/gpu", 8, 6))},
			healthy:  want{metav1.ConditionFalse, "NodesNotReady", "1 of 2 GPU nodes not ready: a NodeNotReady; GPUs not allocatable on ready nodes: b 2 of 8 units"},
			complete: want{metav1.ConditionTrue, "AllRead", "the product and the count of every GPU node were read from a live source"},
		},
		"only unhealthy GPUs": {
			rows:     []v1.GpuNode{row("b", 8, units("nvidia.com/gpu", 8, 6))},
			healthy:  want{metav1.ConditionFalse, "GpusUnhealthy", "all GPU nodes ready; GPUs not allocatable: b 2 of 8 units"},
			complete: want{metav1.ConditionTrue, "AllRead", "the product and the count of every GPU node were read from a live source"},
		},
		"facts unknown or old": {
			rows:     []v1.GpuNode{row("a", 0, unlabelled), row("b", 8, lastKnown)},
			healthy:  want{metav1.ConditionTrue, "AllReady", "every GPU node is ready and every known GPU is allocatable"},
			complete: want{metav1.ConditionFalse, "FactsUnknown", "GPU count unknown on 1 node: a; product unknown on 1 node: a; facts are last-known ones on 1 node: b"},
		},
		"a long list names the first five": {
			rows:     many,
			healthy:  want{metav1.ConditionFalse, "NodesNotReady", "7 of 7 GPU nodes not ready: a NodeNotReady, b NodeNotReady, c NodeNotReady, d NodeNotReady, e NodeNotReady and 2 more"},
			complete: want{metav1.ConditionTrue, "AllRead", "the product and the count of every GPU node were read from a live source"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := Snapshot(tc.rows)
			for condition, w := range map[string]want{v1.ConditionHealthy: tc.healthy, v1.ConditionComplete: tc.complete} {
				c := meta.FindStatusCondition(s.Conditions, condition)
				if c == nil {
					t.Fatalf("condition %s is missing", condition)
				}
				if got := (want{c.Status, c.Reason, c.Message}); got != w {
					t.Errorf("%s = %+v, want %+v", condition, got, w)
				}
			}
		})
	}
}

// TestSnapshotProperties holds for fleets that nobody thought of.
func TestSnapshotProperties(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		rows := randomRows(rng)
		s := Snapshot(rows)
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if diff := cmp.Diff(s, Snapshot(rows)); diff != "" {
			t.Fatalf("seed %d: the order of rows changes the result (-first +shuffled):\n%s", seed, diff)
		}
		var gpus, readyGpus, unknown int32
		for _, p := range s.Products {
			gpus += deref(p.Gpus)
			readyGpus += deref(p.ReadyGpus)
		}
		for _, n := range s.Nodes {
			if n.GpuCount == nil {
				unknown++
			}
		}
		if gpus != deref(s.TotalGpus) || readyGpus != deref(s.ReadyGpus) || unknown != *s.UnknownGpuNodes {
			t.Fatalf("seed %d: totals %d/%d/%d are not the sums of the rows %d/%d/%d", seed,
				deref(s.TotalGpus), deref(s.ReadyGpus), *s.UnknownGpuNodes, gpus, readyGpus, unknown)
		}
		if deref(s.ReadyGpus) > deref(s.TotalGpus) || deref(s.ReadyGpus) < 0 {
			t.Fatalf("seed %d: %d ready of %d GPUs", seed, deref(s.ReadyGpus), deref(s.TotalGpus))
		}
	}
}

func randomRows(rng *rand.Rand) []v1.GpuNode {
	var rows []v1.GpuNode
	for i := range rng.IntN(12) {
		count := rng.Int32N(9)
		n := row(string(rune('a'+i)), count)
		n.Gpus[0].Product = []string{"", "A", "B"}[rng.IntN(3)]
		n.Sharing = []v1.Sharing{"", v1.SharingNone, v1.SharingTimeSlicing, v1.SharingMIG, v1.SharingPartition}[rng.IntN(5)]
		capacity := rng.Int64N(60)
		units("nvidia.com/gpu", capacity, rng.Int64N(capacity+1))(&n)
		if rng.IntN(3) == 0 {
			units("nvidia.com/mig-1g.5gb", 7, rng.Int64N(8))(&n)
		}
		if rng.IntN(3) == 0 {
			notReady(v1.ReasonNodeNotReady)(&n)
		}
		if rng.IntN(4) == 0 {
			unlabelled(&n)
		}
		rows = append(rows, n)
	}
	return rows
}

func deref(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}
