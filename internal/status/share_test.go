package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

func TestWhatComesBackSharesTheMemoryOfWhatWasSent(t *testing.T) {
	status := func(names ...string) v1.GpuInventoryStatus {
		var s v1.GpuInventoryStatus
		for _, name := range names {
			s.Nodes = append(s.Nodes, v1.GpuNode{Name: name, Ready: true})
		}
		return s
	}
	object := func(name string, s v1.GpuInventoryStatus) *v1.GpuInventory {
		return &v1.GpuInventory{
			ObjectMeta: metav1.ObjectMeta{Name: name, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}}, Status: s,
		}
	}
	cases := map[string]struct {
		arrives *v1.GpuInventory
		shares  bool
	}{
		"the same status":             {object("cluster", status("a", "b")), true},
		"the status of another":       {object("other", status("a", "b")), false},
		"another number of rows":      {object("cluster", status("a")), false},
		"a row that somebody changed": {object("cluster", status("a", "c")), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			record := &Record{}
			sent := status("a", "b")
			key := types.NamespacedName{Name: "cluster"}
			record.Sending(key, object("cluster", sent))
			want := tc.arrives.DeepCopy()
			want.ManagedFields = nil
			got, err := Transform(record)(tc.arrives)
			if err != nil {
				t.Fatal(err)
			}
			inv := got.(*v1.GpuInventory)
			if diff := cmp.Diff(want, inv); diff != "" {
				t.Errorf("Transform() (-want +got):\n%s", diff)
			}
			if shares := &inv.Status.Nodes[0] == &sent.Nodes[0]; shares != tc.shares {
				t.Errorf("shares memory: %v, want %v", shares, tc.shares)
			}
			record.Forget(key)
			again := object("cluster", status("a", "b"))
			if share(record, again); &again.Status.Nodes[0] == &sent.Nodes[0] {
				t.Error("what was forgotten is still shared")
			}
		})
	}
}
