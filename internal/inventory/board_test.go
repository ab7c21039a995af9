package inventory

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

func TestBoard(t *testing.T) {
	var b Board
	one, two := &v1.GpuInventoryStatus{}, &v1.GpuInventoryStatus{}
	b.Put("one", one, PoolState{Name: "p"}, PoolState{Name: "q"})
	b.Put("two", two)
	b.PutFleet(two)
	kept, keptPools := b.Pools(), maps.Clone(b.Pools())
	inventories, fleet := b.Get()
	if inventories["one"] != one || inventories["two"] != two || fleet != two {
		t.Errorf("Get() = %v, %p", inventories, fleet)
	}
	if diff := cmp.Diff(map[string][]PoolState{"one": {{Name: "p"}, {Name: "q"}}}, kept); diff != "" {
		t.Errorf("Pools() (-want +got):\n%s", diff)
	}

	b.Put("one", one) // expects nothing any more
	b.Put("two", nil)
	if inventories, _ := b.Get(); !slices.Equal(slices.Collect(maps.Keys(inventories)), []string{"one"}) {
		t.Errorf("after two was withdrawn there are %v", inventories)
	}
	if got := b.Pools(); len(got) != 0 {
		t.Errorf("Pools() = %v, want none", got)
	}
	if diff := cmp.Diff(keptPools, kept); diff != "" {
		t.Errorf("a reader's map has changed (-before +after):\n%s", diff)
	}

	b.Put("one", one, PoolState{Name: "p"})
	b.Clear()
	inventories, fleet = b.Get()
	if len(inventories)+len(b.Pools()) != 0 || fleet != nil {
		t.Errorf("after Clear() there are %v, %v, %v", inventories, b.Pools(), fleet)
	}
}
