package metrics

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// hostileFleet has label values that try to break the exposition, among them different ones that read the same once they
// are made valid.
func hostileFleet() *v1.GpuInventoryStatus {
	values := []string{"a\xff", "a\xfe", "quo\"te", "back\\slash", "new\nline", "\r\x00\x1b[31m", "{}=,# HELP x", "\u2028\u202e", "", "unknown"}
	s := &v1.GpuInventoryStatus{TotalGpuNodes: new(int32(len(values))), ReadyGpuNodes: new(int32(0))}
	for _, v := range values {
		s.Products = append(s.Products, v1.ProductSummary{Vendor: v1.Vendor(v), Product: v, Gpus: new(int32(1)), LargestFree: new(int32(2))})
		s.Resources = append(s.Resources, v1.ResourceSummary{Name: v, Capacity: 1, Allocatable: 1})
		s.Conditions = append(s.Conditions, metav1.Condition{Type: v, Status: metav1.ConditionTrue})
		s.Nodes = append(s.Nodes, v1.GpuNode{
			Name: v, Reason: v1.Reason(v), Sharing: v1.Sharing(v), WorkloadMode: v1.WorkloadMode(v),
			Gpus:      []v1.GpuGroup{{Vendor: v1.Vendor(v), Product: v, Variant: v, Count: new(int32(1)), MemoryMiB: new(int64(1))}},
			Resources: []v1.NodeResource{{Name: v, Capacity: 1}, {Name: v, Capacity: 1}},
		})
	}
	return s
}

func TestHostileLabelValuesAreExposedAndLoseNoUnit(t *testing.T) {
	s := hostileFleet()
	got := series(gather(t, collectorOf(stateOf(s)))...)
	for name, want := range map[string]float64{
		nameGpus:             float64(len(s.Products)),
		nameResourceCapacity: float64(len(s.Resources)),
		nameNotReadyNodes:    float64(len(s.Nodes)),
	} {
		var sum float64
		for k, v := range got {
			if strings.HasPrefix(k, name+"{") {
				sum += v
			}
		}
		if sum != want {
			t.Errorf("sum(%s) = %v, want %v", name, sum, want)
		}
	}
	const joined = `gpu_inventory_largest_free_gpus{inventory="cluster",product="a` + "\uFFFD" + `",vendor="a` + "\uFFFD" + `"}`
	if got[joined] != 2 {
		t.Errorf("%s = %v, want the greater of two, not their sum", joined, got[joined])
	}
}

func TestForgedProductsDoNotFloodTheSeries(t *testing.T) {
	s := &v1.GpuInventoryStatus{}
	for i := range 10_000 {
		s.Products = append(s.Products, v1.ProductSummary{
			Vendor: v1.VendorNVIDIA, Product: fmt.Sprintf("forged-%05d", i), Gpus: new(int32(1)), LargestFree: new(int32(i)),
		})
	}
	got := series(gather(t, collectorOf(State{Inventories: map[string]*v1.GpuInventoryStatus{"cluster": s}}))...)
	if want := 2 * (maxProducts + 1); len(got) != want {
		t.Errorf("%d series, want %d", len(got), want)
	}
	for name, want := range map[string]float64{
		`gpu_inventory_gpus{inventory="cluster",product="other",vendor="nvidia"}`:              10_000 - maxProducts,
		`gpu_inventory_largest_free_gpus{inventory="cluster",product="other",vendor="nvidia"}`: 9_999,
	} {
		if got[name] != want {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
	}
}
