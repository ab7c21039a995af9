package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

func TestNamespacesExposeWhatIsHeld(t *testing.T) {
	held, known := holders.Held{"ml": {"nvidia.com/gpu": 3, "dra:gpu.nvidia.com": 1}, "web": {"nvidia.com/gpu": 2}}, true
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(Namespaces{Held: func() (holders.Held, bool) { return held, known }}); err != nil {
		t.Fatal(err)
	}
	want := `
# HELP gpu_inventory_namespace_allocated Units of a resource that a namespace holds.
# TYPE gpu_inventory_namespace_allocated gauge
gpu_inventory_namespace_allocated{namespace="ml",resource="dra:gpu.nvidia.com"} 1
gpu_inventory_namespace_allocated{namespace="ml",resource="nvidia.com/gpu"} 3
gpu_inventory_namespace_allocated{namespace="web",resource="nvidia.com/gpu"} 2
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	delete(held, "web")
	if n, err := testutil.GatherAndCount(reg); err != nil || n != 2 {
		t.Errorf("%d series after a namespace let go, want 2 (%v)", n, err)
	}
	known = false
	if n, err := testutil.GatherAndCount(reg); err != nil || n != 0 {
		t.Errorf("%d series while it is not known, want none (%v)", n, err)
	}
}
