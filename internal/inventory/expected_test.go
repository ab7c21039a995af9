package inventory

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// h100Pool declares four nodes with eight GPUs each, labelled pool=h100.
func h100Pool(mods ...func(*v1.ExpectedPool)) v1.ExpectedPool {
	p := v1.ExpectedPool{
		Name: "h100-pool", NodeSelector: &v1.NodeSelector{MatchLabels: map[string]string{"pool": "h100"}},
		Product: "NVIDIA-H100-80GB-HBM3", Nodes: 4, GpusPerNode: new(int32(8)),
	}
	for _, mod := range mods {
		mod(&p)
	}
	return p
}

// anywhere takes the pool's selector away.
func anywhere(p *v1.ExpectedPool) { p.NodeSelector = nil }

func unusable(p *v1.ExpectedPool) {
	p.NodeSelector = &v1.NodeSelector{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "pool", Operator: "Near"}}}
}

// poolOf labels nodes a to f with pool=h100.
func poolOf(node string) map[string]string {
	if node <= "f" {
		return map[string]string{"pool": "h100"}
	}
	return nil
}

func named8(names string, mods ...func(*v1.GpuNode)) (rows []v1.GpuNode) {
	for _, name := range names {
		rows = append(rows, row(string(name), 8, mods...))
	}
	return rows
}

func TestAsExpected(t *testing.T) {
	type want struct {
		status          metav1.ConditionStatus
		reason, message string
		expected, lacks string // ExpectedGpus and MissingGpus of the first pool; "nil": not known
	}
	met := func(message string) want {
		return want{metav1.ConditionTrue, "ExpectationMet", message, "32", "0"}
	}
	missed := func(message, lacks string) want {
		return want{metav1.ConditionFalse, "ExpectationMissed", message, "32", lacks}
	}
	unsure := func(message, lacks string) want {
		return want{metav1.ConditionUnknown, "FactsUnknown", message, "32", lacks}
	}
	nodesOnly := func(p *v1.ExpectedPool) { p.GpusPerNode = nil }
	cases := map[string]struct {
		pools []v1.ExpectedPool // nil: h100Pool
		rows  []v1.GpuNode
		want  want
	}{
		"all there": {
			rows: named8("abcd"), want: met("h100-pool: 4 of 4 nodes, 32 of 32 GPUs"),
		},
		"ready or not does not matter": {
			rows: named8("abcd", notReady(v1.ReasonNodeNotReady)), want: met("h100-pool: 4 of 4 nodes, 32 of 32 GPUs"),
		},
		"last-known facts count": {
			rows: named8("abcd", lastKnown), want: met("h100-pool: 4 of 4 nodes, 32 of 32 GPUs"),
		},
		"DRA drivers spell products with blanks, and people copy suffixes": {
			pools: []v1.ExpectedPool{h100Pool(func(p *v1.ExpectedPool) { p.Product += "-MIG-1g.10gb-SHARED" })},
			rows:  named8("abcd", product("NVIDIA H100 80GB HBM3")), want: met("h100-pool: 4 of 4 nodes, 32 of 32 GPUs"),
		},
		"a node is missing": {
			rows: named8("abc"), want: missed("h100-pool: 3 of 4 nodes, 24 of 32 GPUs", "8"),
		},
		"no node is there": {
			want: missed("h100-pool: 0 of 4 nodes, 0 of 32 GPUs", "32"),
		},
		"a node that is not selected does not count": {
			rows: named8("abcz"), want: missed("h100-pool: 3 of 4 nodes, 24 of 32 GPUs", "8"),
		},
		"nor does one with another product": {
			rows: append(named8("abc"), row("d", 8, product("NVIDIA-A100"))), want: missed("h100-pool: 3 of 4 nodes, 24 of 32 GPUs", "8"),
		},
		"a GPU is missing": {
			rows: append(named8("abc"), row("d", 7)), want: missed("h100-pool: 4 of 4 nodes, 31 of 32 GPUs: d has 7", "1"),
		},
		"GPUs too many on one node do not make up for another": {
			rows: append(named8("ab"), row("c", 7), row("d", 9)),
			want: missed("h100-pool: 4 of 4 nodes, 32 of 32 GPUs: c has 7, d has 9", "1"),
		},
		"more nodes than declared": {
			rows: named8("abcde"), want: missed("h100-pool: 5 of 4 nodes, 40 of 32 GPUs: more than declared", "0"),
		},
		"a count is not known": {
			rows: append(named8("abc"), row("d", 8, func(n *v1.GpuNode) { n.GpuCount, n.Gpus[0].Count = nil, nil })),
			want: unsure("h100-pool: 4 of 4 nodes, at least 24 of 32 GPUs, count unknown on 1 node", "nil"),
		},
		"no count is known": {
			rows: named8("abcd", func(n *v1.GpuNode) { n.GpuCount, n.Gpus[0].Count = nil, nil }),
			want: unsure("h100-pool: 4 of 4 nodes, an unknown number of 32 GPUs, count unknown on 4 nodes", "nil"),
		},
		"a count is not known, and a node is missing in any case": {
			rows: append(named8("ab"), row("c", 8, func(n *v1.GpuNode) { n.GpuCount, n.Gpus[0].Count = nil, nil })),
			want: missed("h100-pool: 3 of 4 nodes, at least 16 of 32 GPUs, count unknown on 1 node", "8"),
		},
		"a product is not known": {
			rows: append(named8("abc"), row("d", 8, product(""))),
			want: unsure("h100-pool: 3 of 4 nodes, product unknown on 1 more node, at least 24 of 32 GPUs", "nil"),
		},
		"no product is known": {
			rows: named8("abcd", unlabelled),
			want: unsure("h100-pool: 0 of 4 nodes, product unknown on 4 more nodes, an unknown number of 32 GPUs", "nil"),
		},
		"nothing is known of a node": {
			rows: append(named8("abc"), v1.GpuNode{Name: "d"}),
			want: unsure("h100-pool: 3 of 4 nodes, product unknown on 1 more node, at least 24 of 32 GPUs", "nil"),
		},
		"a product is not known, and a node is missing in any case": {
			rows: append(named8("ab"), row("c", 8, product(""))),
			want: missed("h100-pool: 2 of 4 nodes, product unknown on 1 more node, at least 16 of 32 GPUs", "8"),
		},
		"any product, only nodes": {
			pools: []v1.ExpectedPool{h100Pool(nodesOnly, func(p *v1.ExpectedPool) { p.Product = "" })},
			rows:  named8("abcd", unlabelled),
			want:  want{metav1.ConditionTrue, "ExpectationMet", "h100-pool: 4 of 4 nodes", "nil", "nil"},
		},
		"one of several products": {
			pools: []v1.ExpectedPool{h100Pool(anywhere, func(p *v1.ExpectedPool) { p.Product, p.Nodes, p.GpusPerNode = "Tesla-T4", 1, new(int32(2)) })},
			rows: []v1.GpuNode{row("a", 3, func(n *v1.GpuNode) {
				n.Gpus = []v1.GpuGroup{{Vendor: v1.VendorNVIDIA, Product: "NVIDIA-A10", Count: new(int32(1))}, {Vendor: v1.VendorNVIDIA, Product: "Tesla-T4", Count: new(int32(2))}}
			})},
			want: want{metav1.ConditionTrue, "ExpectationMet", "h100-pool: 1 of 1 node, 2 of 2 GPUs", "2", "0"},
		},
		"nothing declared to be there": {
			pools: []v1.ExpectedPool{h100Pool(func(p *v1.ExpectedPool) { p.Nodes = 0 })},
			rows:  named8("a"),
			want:  want{metav1.ConditionFalse, "ExpectationMissed", "h100-pool: 1 of 0 nodes, 8 of 0 GPUs: more than declared", "0", "0"},
		},
		"more than an int32 of GPUs": {
			pools: []v1.ExpectedPool{h100Pool(func(p *v1.ExpectedPool) { p.Nodes, p.GpusPerNode = 1<<30, new(int32(1024)) })},
			want:  want{metav1.ConditionFalse, "ExpectationMissed", "h100-pool: 0 of 1073741824 nodes, 0 of 2147483647 GPUs", "2147483647", "2147483647"},
		},
		"a selector that cannot be used": {
			pools: []v1.ExpectedPool{h100Pool(unusable)}, rows: named8("abcd"),
			want: want{metav1.ConditionUnknown, "InvalidSelector",
				`h100-pool: its nodeSelector cannot be used: parse node selector: "Near" is not a valid label selector operator`, "nil", "nil"},
		},
		"what is missed comes before what is not known": {
			pools: []v1.ExpectedPool{
				h100Pool(unusable, func(p *v1.ExpectedPool) { p.Name = "bad" }), h100Pool(),
				h100Pool(anywhere, func(p *v1.ExpectedPool) { p.Name, p.Nodes = "fine", 3 }),
			},
			rows: named8("abc"),
			want: want{metav1.ConditionFalse, "ExpectationMissed", "h100-pool: 3 of 4 nodes, 24 of 32 GPUs; " +
				`bad: its nodeSelector cannot be used: parse node selector: "Near" is not a valid label selector operator`, "nil", "nil"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.pools == nil {
				tc.pools = []v1.ExpectedPool{h100Pool()}
			}
			before := Snapshot(tc.rows)
			s, states := WithExpected(before, tc.pools, poolOf)
			if len(before.Conditions) != 2 {
				t.Errorf("the argument has the conditions %v", before.Conditions)
			}
			c := meta.FindStatusCondition(s.Conditions, v1.ConditionAsExpected)
			got := want{c.Status, c.Reason, c.Message, text(states[0].ExpectedGpus), text(states[0].MissingGpus)}
			if diff := cmp.Diff(fmt.Sprintf("%+v", tc.want), fmt.Sprintf("%+v", got)); diff != "" {
				t.Errorf("WithExpected() (-want +got):\n%s", diff)
			}
		})
	}
}

func text(n *int32) string {
	if n == nil {
		return "nil"
	}
	return fmt.Sprint(*n)
}

func TestCompareCountsEverything(t *testing.T) {
	type counts struct {
		Found, Unsure, Missing, Uncounted    int32
		ExpectedGpus, FoundGpus, MissingGpus *int32
		Name, Deviating                      string
	}
	rows := append(named8("ab"), row("c", 7), row("d", 0, unlabelled))
	want := counts{
		Name: "h100-pool", Found: 3, Unsure: 1,
		ExpectedGpus: new(int32(32)), FoundGpus: new(int32(23)), MissingGpus: new(int32(1)), Deviating: "c has 7",
	}
	c := comparePools([]v1.ExpectedPool{h100Pool()}, rows, poolOf)[0]
	s := c.state()
	got := counts{
		Name: s.Name, Found: c.found, Unsure: c.unsure, Missing: c.missingNodes(), Uncounted: c.uncounted,
		ExpectedGpus: s.ExpectedGpus, FoundGpus: c.foundGpus(), MissingGpus: s.MissingGpus, Deviating: firstFew(c.deviating),
	}
	if diff := cmp.Diff(want, got); diff != "" || c.pool.Nodes != 4 || c.invalid != nil {
		t.Errorf("comparePools() (-want +got):\n%s", diff)
	}
}

func TestNothingCountedIsNotAsExpectedNorMissed(t *testing.T) {
	cases := map[string]struct {
		status v1.GpuInventoryStatus
		reason string
	}{
		"the inventory's own selector cannot be used": {status: Unusable(v1.ConditionReasonInvalidSelector, "no"), reason: "InvalidSelector"},
		"an input is missing":                         {status: WithMissing(Snapshot(named8("abcd")), errors.New("ResourceSlices not read yet")), reason: "InputsNotSynced"},
		"there is nothing yet":                        {reason: "InputsNotSynced"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, states := WithExpected(tc.status, []v1.ExpectedPool{h100Pool()}, poolOf)
			c := meta.FindStatusCondition(s.Conditions, v1.ConditionAsExpected)
			if c.Status != metav1.ConditionUnknown || c.Reason != tc.reason || c.Message == "" || states != nil {
				t.Errorf("condition %+v, states %v", c, states)
			}
		})
	}
}

func TestWithoutExpectationsThereIsNoCondition(t *testing.T) {
	s, states := WithExpected(Snapshot(named8("a")), nil, poolOf)
	if diff := cmp.Diff(Snapshot(named8("a")), s); diff != "" || states != nil {
		t.Errorf("states %v, status (-want +got):\n%s", states, diff)
	}
}

func TestSelector(t *testing.T) {
	cases := map[string]struct {
		selector *v1.NodeSelector
		want     string
	}{
		"absent": {},
		"empty":  {selector: &v1.NodeSelector{}},
		"labels and expressions": {
			selector: &v1.NodeSelector{
				MatchLabels:      map[string]string{"a": "b"},
				MatchExpressions: []v1.NodeSelectorRequirement{{Key: "c", Operator: metav1.LabelSelectorOpIn, Values: []string{"d", "e"}}},
			},
			want: "a=b,c in (d,e)",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := Selector(tc.selector)
			if err != nil || s.String() != tc.want {
				t.Errorf("Selector() = %q, %v, want %q", s, err, tc.want)
			}
		})
	}
}
