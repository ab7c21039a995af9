package configmap

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// fleet has the given number of nodes of each kind, in the order of a status: those that are not ready first.
func fleetOf(notReady, warned, healthy int, name func(int) string) *v1.GpuInventoryStatus {
	n := notReady + warned + healthy
	inv := &v1.GpuInventoryStatus{
		TotalGpuNodes: new(int32(n)), ReadyGpuNodes: new(int32(n - notReady)), TotalGpus: new(int32(8 * n)),
		UnknownGpuNodes: new(int32(0)),
		Products: []v1.ProductSummary{{
			Vendor: v1.VendorNVIDIA, Product: "NVIDIA-H100-80GB-HBM3", Nodes: int32(n), ReadyNodes: int32(n - notReady), Gpus: new(int32(8 * n)),
		}},
		Resources: []v1.ResourceSummary{{Name: "nvidia.com/gpu", Capacity: int64(8 * n), Allocatable: int64(8 * n)}},
		Nodes:     make([]v1.GpuNode, n),
	}
	for i := range inv.Nodes {
		node := v1.GpuNode{
			Name: name(i), Ready: i >= notReady, Reason: v1.ReasonOK, GpuCount: new(int32(8)),
			Gpus: []v1.GpuGroup{{
				Vendor: v1.VendorNVIDIA, Product: "NVIDIA-H100-80GB-HBM3", Count: new(int32(8)), MemoryMiB: new(int64(81559)),
				Source: v1.SourceLabels,
			}},
			Sharing: v1.SharingNone, WorkloadMode: v1.WorkloadModeContainer,
			Resources: []v1.NodeResource{{Name: "nvidia.com/gpu", Capacity: 8, Allocatable: 8}},
		}
		if !node.Ready {
			node.Reason, node.Message = v1.ReasonNodeStatusUnknown, "kubelet stopped posting node status since 2026-07-10T15:02:11Z"
		}
		inv.Nodes[i] = node
	}
	// Names, not readiness, order the ready nodes: those with warnings may stand anywhere among them.
	for _, i := range rand.New(rand.NewPCG(1, uint64(n))).Perm(warned + healthy)[:warned] {
		inv.Nodes[notReady+i].Warnings = []v1.Warning{v1.WarningSomeGpusUnhealthy}
	}
	return inv
}

func shortName(i int) string { return fmt.Sprintf("gpu-%05d", i) }
func longName(i int) string  { return fmt.Sprintf("%s-%05d", strings.Repeat("n", 247), i) }

func TestOmissionKeepsTotalsProblemsAndTheBudget(t *testing.T) {
	cases := map[string]struct {
		inv      *v1.GpuInventoryStatus
		wantFull bool
	}{
		"1,000 nodes fit":                             {inv: fleetOf(10, 10, 980, shortName), wantFull: true},
		"5,000 healthy nodes":                         {inv: fleetOf(0, 0, 5_000, shortName)},
		"5,000 nodes, some with problems":             {inv: fleetOf(200, 300, 4_500, shortName)},
		"5,000 nodes, none ready":                     {inv: fleetOf(5_000, 0, 0, shortName)},
		"20,000 nodes with the longest names":         {inv: fleetOf(100, 100, 19_800, longName)},
		"20,000 long names, most of them in trouble":  {inv: fleetOf(15_000, 2_000, 3_000, longName)},
		"20,000 long names, all ready, most warned":   {inv: fleetOf(0, 18_000, 2_000, longName)},
		"20,000 nodes, not one of them ready":         {inv: fleetOf(20_000, 0, 0, longName)},
		"20,000 nodes whose text JSON has to escape":  {inv: fleetOf(50, 50, 19_900, func(i int) string { return strings.Repeat("\x01", 247) + shortName(i) })},
		"20,000 nodes with names of three-byte runes": {inv: fleetOf(50, 50, 19_900, func(i int) string { return strings.Repeat("核", 80) + shortName(i) })},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data := render(t, tc.inv)
			checkBudget(t, data, tc.wantFull)
			checkTotals(t, tc.inv, data)
			checkKeptRows(t, tc.inv, data)
		})
	}
}

func TestEveryNodeWithAProblemStaysWhileHealthyOnesGo(t *testing.T) {
	const notReady, warned = 200, 300
	data := render(t, fleetOf(notReady, warned, 4_500, shortName))
	if got := strings.Count(data[KeyNodes], "ready=false"); got != notReady {
		t.Errorf("%d rows of nodes that are not ready, want all %d", got, notReady)
	}
	if got := strings.Count(data[KeyNodes], string(v1.WarningSomeGpusUnhealthy)); got != warned {
		t.Errorf("%d rows of nodes with a warning, want all %d", got, warned)
	}
	if !strings.Contains(data[KeyNodes], "more nodes (healthy rows are left out first)") {
		t.Error("no row was left out, so the test shows nothing")
	}
}

func checkBudget(t *testing.T, data map[string]string, wantFull bool) {
	t.Helper()
	got := size(data)
	if got > MaxBytes {
		t.Errorf("size = %d bytes, want at most %d", got, MaxBytes)
	}
	if !wantFull && got < MaxBytes-3_000 {
		t.Errorf("size = %d bytes: rows were left out although there was room", got)
	}
	if wantFull && strings.Contains(data[KeyNodes], "more nodes") {
		t.Error("rows were left out although all fit")
	}
}

func checkTotals(t *testing.T, inv *v1.GpuInventoryStatus, data map[string]string) {
	t.Helper()
	var got v1.GpuInventoryStatus
	if err := json.Unmarshal([]byte(data[KeyJSON]), &got); err != nil {
		t.Fatal(err)
	}
	if kept := len(got.Nodes) + int(got.NodesOmitted); kept != len(inv.Nodes) {
		t.Errorf("nodes + nodesOmitted = %d, want %d", kept, len(inv.Nodes))
	}
	want := *inv
	want.Nodes, want.NodesOmitted = nil, got.NodesOmitted
	got.Nodes = nil // checked row by row elsewhere
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is not a row (-want +got):\n%s", diff)
	}
}

// checkKeptRows checks that the kept rows are the same in both texts, in the order of the inventory, and that no row was
// left out while a less needed one, or one further down that is needed as much, stayed.
func checkKeptRows(t *testing.T, inv *v1.GpuInventoryStatus, data map[string]string) {
	t.Helper()
	var doc struct{ Nodes []v1.GpuNode }
	if err := json.Unmarshal([]byte(data[KeyJSON]), &doc); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(data[KeyNodes], "\n"), "\n")
	if omitted := len(inv.Nodes) - len(doc.Nodes); omitted > 0 {
		want := fmt.Sprintf("... and %d more nodes (healthy rows are left out first)", omitted)
		if got := lines[len(lines)-1]; got != want {
			t.Errorf("last line = %q, want %q", got, want)
		}
		lines = lines[:len(lines)-1]
	}
	if len(lines) != len(doc.Nodes) {
		t.Fatalf("the table has %d rows, the JSON %d", len(lines), len(doc.Nodes))
	}

	k, ended := 0, map[int]bool{}
	for i := range inv.Nodes {
		own := inventory.Need(&inv.Nodes[i])
		if k == len(doc.Nodes) || doc.Nodes[k].Name != inv.Nodes[i].Name {
			ended[own] = true
			continue
		}
		if got, want := strings.Fields(lines[k])[0], cell(doc.Nodes[k].Name, ""); got != want {
			t.Fatalf("row %d is %q in the table and %q in the JSON", k, got, want)
		}
		for c := range own + 1 {
			if ended[c] {
				t.Fatalf("row %s of need %d stayed, a row of need %d before it did not", doc.Nodes[k].Name, own, c)
			}
		}
		k++
	}
	if k != len(doc.Nodes) {
		t.Errorf("only %d of %d kept rows follow the order of the inventory", k, len(doc.Nodes))
	}
	// Where rows of one need were left out, none of a lesser need may stay, wherever it stands.
	for i := range doc.Nodes {
		for c := range inventory.Need(&doc.Nodes[i]) {
			if ended[c] {
				t.Fatalf("row %s stayed although rows of need %d were left out", doc.Nodes[i].Name, c)
			}
		}
	}
}

func TestForgedProductsAndResourcesLeaveRoomForProblemNodes(t *testing.T) {
	inv := fleetOf(500, 0, 4_500, shortName)
	inv.Products, inv.Resources = nil, nil
	for i := range 10_000 {
		forged := strings.Repeat("\x01", 240) + shortName(i)
		inv.Products = append(inv.Products, v1.ProductSummary{Vendor: v1.VendorNVIDIA, Product: forged, Nodes: 1})
		inv.Resources = append(inv.Resources, v1.ResourceSummary{Name: forged, Capacity: 1})
	}
	for range 16 {
		inv.Conditions = append(inv.Conditions, metav1.Condition{Type: v1.ConditionHealthy, Message: strings.Repeat("\x01é", 16_000)})
	}
	data := render(t, inv)
	if got := size(data); got > MaxBytes {
		t.Errorf("size = %d bytes, want at most %d", got, MaxBytes)
	}
	var doc document
	if err := json.Unmarshal([]byte(data[KeyJSON]), &doc); err != nil {
		t.Fatal(err)
	}
	if got := len(doc.Products) + doc.ProductsOmitted; got != len(inv.Products) || doc.ProductsOmitted == 0 {
		t.Errorf("products + productsOmitted = %d + %d, want the sum %d and some omitted", len(doc.Products), doc.ProductsOmitted, len(inv.Products))
	}
	if got := len(doc.Resources) + doc.ResourcesOmitted; got != len(inv.Resources) || doc.ResourcesOmitted == 0 {
		t.Errorf("resources + resourcesOmitted = %d + %d, want the sum %d and some omitted", len(doc.Resources), doc.ResourcesOmitted, len(inv.Resources))
	}
	if got := len(doc.Nodes); got < 500 {
		t.Errorf("%d rows stayed, want at least the 500 problem nodes", got)
	}
	lines := strings.Split(strings.TrimSuffix(data[KeySummary], "\n"), "\n")
	want := fmt.Sprintf("... and %d more products", len(inv.Products)-(len(lines)-2))
	if got := lines[len(lines)-1]; got != want {
		t.Errorf("last line of the summary = %q, want %q", got, want)
	}
	for _, c := range doc.Conditions {
		if len(c.Message) > maxMessageBytes || !strings.HasSuffix(c.Message, "...") {
			t.Errorf("condition message has %d bytes and ends in %q, want at most %d and a mark", len(c.Message), c.Message[len(c.Message)-3:], maxMessageBytes)
		}
	}
}

func FuzzRenderKeepsOneLinePerNode(f *testing.F) {
	f.Add("a", "NVIDIA-H100", "SHARED", "OK", "Cordoned")
	f.Add("a\nb", "\x1b[2J", "\u202e", "\x00", "\xff")
	f.Add(" ", "\t", "\v\f\r", "\u2028\u2029\u0085", "\u00a0")
	f.Fuzz(func(t *testing.T, name, product, variant, reason, warning string) {
		inv := &v1.GpuInventoryStatus{
			Products: []v1.ProductSummary{{Product: product}},
			Nodes: []v1.GpuNode{
				{Name: name, Reason: v1.Reason(reason), Gpus: []v1.GpuGroup{{Product: product, Variant: variant}}, Warnings: []v1.Warning{v1.Warning(warning)}},
				{Name: "after"},
			},
		}
		data, err := Render(inv)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(data[KeyNodes], "\n"); got != 2 {
			t.Errorf("nodes has %d lines, want 2: %q", got, data[KeyNodes])
		}
		for line := range strings.Lines(data[KeyNodes]) {
			if got := len(strings.Fields(line)); got < 7 || got > 8 {
				t.Errorf("a row has %d columns, want 7 or 8: %q", got, line)
			}
		}
		if got := strings.Count(data[KeySummary], "\n"); got != 2 {
			t.Errorf("summary has %d lines, want 2: %q", got, data[KeySummary])
		}
		if !json.Valid([]byte(data[KeyJSON])) {
			t.Errorf("inventory.json is not JSON: %q", data[KeyJSON])
		}
	})
}

func BenchmarkRender(b *testing.B) {
	inv := fleetOf(50, 50, 4_900, shortName)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Render(inv); err != nil {
			b.Fatal(err)
		}
	}
}
