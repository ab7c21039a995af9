package inventory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

const (
	gpus    = "nvidia.com/gpu"
	slice   = "nvidia.com/mig-1g.10gb"
	draGpus = "dra:gpu.nvidia.com"
)

func TestFreeGpus(t *testing.T) {
	free := func(n int32) *int32 { return &n }
	sliced := func(units4 int64, held int64) []func(*v1.GpuNode) {
		return []func(*v1.GpuNode){sharing(v1.SharingTimeSlicing, "SHARED"), units(gpus, units4, units4), holding(gpus, held)}
	}
	of := func(name string, count int32, mods ...[]func(*v1.GpuNode)) v1.GpuNode {
		var all []func(*v1.GpuNode)
		for _, m := range mods {
			all = append(all, m...)
		}
		return row(name, count, all...)
	}
	vendors := func(n *v1.GpuNode) {
		n.Gpus = append(n.Gpus, v1.GpuGroup{Vendor: v1.VendorAMD, Product: "MI300X", Count: new(int32(4))})
		n.GpuCount = new(*n.GpuCount + 4)
	}
	cases := map[string]struct {
		rows []v1.GpuNode
		want *int32
	}{
		"no GPU nodes":                        {nil, free(0)},
		"nobody holds anything":               {[]v1.GpuNode{row("a", 8, holding(gpus, 0))}, free(8)},
		"some are held":                       {[]v1.GpuNode{row("a", 8, holding(gpus, 3)), row("b", 4, holding(gpus, 4))}, free(5)},
		"not known who holds is not known":    {[]v1.GpuNode{row("a", 8), row("b", 4, holding(gpus, 4))}, nil},
		"more held than there is":             {[]v1.GpuNode{row("a", 8, holding(gpus, 9)), row("b", 4, holding(gpus, 1))}, free(3)},
		"nothing is free on a node not ready": {[]v1.GpuNode{row("a", 8, holding(gpus, 0), notReady(v1.ReasonNodeNotReady)), row("b", 1, holding(gpus, 0))}, free(1)},
		"nothing is free on a cordoned node":  {[]v1.GpuNode{row("a", 8, holding(gpus, 0), cordoned), row("b", 1, holding(gpus, 0))}, free(1)},
		"who holds matters only where GPUs are on offer": {
			[]v1.GpuNode{row("a", 8, cordoned), row("b", 8, notReady(v1.ReasonNodeNotReady)), row("c", 2, holding(gpus, 1))}, free(1)},
		"nodes that are not ready are known to offer none": {[]v1.GpuNode{row("a", 8, notReady(v1.ReasonNodeNotReady))}, free(0)},
		"an unknown count is left out":                     {[]v1.GpuNode{row("a", 0, unlabelled, units(gpus, 8, 8)), row("b", 4, holding(gpus, 1))}, free(3)},
		"only unknown counts are unknown":                  {[]v1.GpuNode{row("a", 0, unlabelled, units(gpus, 8, 8), holding(gpus, 0))}, nil},
		"an unhealthy GPU is not free":                     {[]v1.GpuNode{row("a", 8, units(gpus, 8, 7), holding(gpus, 2))}, free(5)},
		"GPUs that no unit stands for are not free":        {[]v1.GpuNode{row("a", 8, units(gpus, 6, 6), holding(gpus, 2))}, free(4)},

		"time slices: none held":                 {[]v1.GpuNode{of("a", 4, sliced(16, 0))}, free(4)},
		"time slices: each may be on its own":    {[]v1.GpuNode{of("a", 4, sliced(16, 3))}, free(1)},
		"time slices: so few can take all":       {[]v1.GpuNode{of("a", 4, sliced(16, 4))}, free(0)},
		"time slices: more than GPUs":            {[]v1.GpuNode{of("a", 4, sliced(16, 15))}, free(0)},
		"time slices: fewer units than GPUs":     {[]v1.GpuNode{of("a", 4, sliced(2, 1))}, free(1)},
		"MIG, one profile":                       {[]v1.GpuNode{row("a", 2, sharing(v1.SharingMIG, "MIG-1g.10gb"), units(gpus, 14, 14), holding(gpus, 1))}, free(1)},
		"MIG mixed: whole GPUs and slices apart": {[]v1.GpuNode{row("a", 4, sharing(v1.SharingMIG, "MIG-mixed"), units(gpus, 3, 3), units(slice, 7, 7), holding(gpus, 1), holding(slice, 2))}, free(2)},
		"MIG mixed: slices leave whole GPUs be":  {[]v1.GpuNode{row("a", 4, sharing(v1.SharingMIG, "MIG-mixed"), units(gpus, 3, 3), units(slice, 7, 7), holding(gpus, 0), holding(slice, 7))}, free(3)},
		"MIG mixed: whole GPUs all held":         {[]v1.GpuNode{row("a", 4, sharing(v1.SharingMIG, "MIG-mixed"), units(gpus, 3, 3), units(slice, 7, 7), holding(gpus, 3), holding(slice, 0))}, free(1)},
		"MIG mixed: the count leaves no room for slices, so they may be anywhere": {
			[]v1.GpuNode{row("a", 3, sharing(v1.SharingMIG, "MIG-mixed"), units(gpus, 3, 3), units(slice, 7, 7), holding(gpus, 1), holding(slice, 1))}, free(1)},
		"MIG mixed: one of the two not known": {[]v1.GpuNode{row("a", 4, sharing(v1.SharingMIG, "MIG-mixed"), units(gpus, 3, 3), units(slice, 7, 7), holding(gpus, 1))}, nil},
		"partitions":                          {[]v1.GpuNode{row("a", 8, sharing(v1.SharingPartition, "cpx_nps4"), units(gpus, 64, 64), holding(gpus, 5))}, free(3)},

		"vGPUs say nothing about whole GPUs": {[]v1.GpuNode{row("a", 1, sharing(v1.SharingVGPU, "vGPU-12Q"), holding(gpus, 0))}, nil},
		"and a single vGPU resource neither": {[]v1.GpuNode{row("a", 1, units("nvidia.com/NVIDIA_A10-12Q", 2, 2), holding(gpus, 0), holding("nvidia.com/NVIDIA_A10-12Q", 0))}, nil},
		"nor cards of which pods ask for memory": {[]v1.GpuNode{row("a", 2, sharing(v1.SharingOther, ""), units(gpus, 0, 0), holding(gpus, 0),
			units("aliyun.com/gpu-count", 2, 2), holding("aliyun.com/gpu-count", 0))}, nil},
		"one unit of a name for all GPUs is all GPUs": {[]v1.GpuNode{row("a", 4, units("nvidia.com/gpu-all", 1, 1), holding(gpus, 0), holding("nvidia.com/gpu-all", 1))}, free(0)},
		"and none of it is none":                      {[]v1.GpuNode{row("a", 4, units("nvidia.com/gpu-all", 1, 1), holding(gpus, 1), holding("nvidia.com/gpu-all", 0))}, free(3)},

		"a plugin and a DRA driver offer the same cards": {[]v1.GpuNode{row("a", 8, units(draGpus, 8, 8), holding(gpus, 0), holding(draGpus, 0))}, free(8)},
		"and both have handed some out":                  {[]v1.GpuNode{row("a", 8, units(draGpus, 8, 8), holding(gpus, 3), holding(draGpus, 2))}, free(3)},
		"and it is not known what the driver has":        {[]v1.GpuNode{row("a", 8, units(draGpus, 8, 8), holding(gpus, 3))}, nil},
		"DRA alone": {[]v1.GpuNode{row("a", 8, func(n *v1.GpuNode) { n.Resources = nil }, units(draGpus, 8, 7), holding(draGpus, 2))}, free(5)},

		"units of a name that is no more still take GPUs": {[]v1.GpuNode{row("a", 4, sharing(v1.SharingTimeSlicing, "SHARED"), units(gpus, 0, 0), holding(gpus, 2),
			units("nvidia.com/gpu.shared", 16, 16), holding("nvidia.com/gpu.shared", 1))}, free(1)},
		"vendors are counted apart":                      {[]v1.GpuNode{row("a", 2, vendors, units("amd.com/gpu", 4, 4), holding(gpus, 2), holding("amd.com/gpu", 1))}, free(3)},
		"a vendor that nothing serves has no free GPUs":  {[]v1.GpuNode{row("a", 2, vendors, holding(gpus, 1))}, free(1)},
		"a vendor whose holders are not known hides all": {[]v1.GpuNode{row("a", 2, vendors, units("amd.com/gpu", 4, 4), holding(gpus, 2))}, nil},
		"absurd numbers do not wrap round": {[]v1.GpuNode{
			row("a", math.MaxInt32, holding(gpus, 0)), row("b", math.MaxInt32, holding(gpus, 0)),
			row("c", 8, units(draGpus, math.MaxInt64, math.MaxInt64), holding(gpus, math.MaxInt64), holding(draGpus, math.MaxInt64))}, free(math.MaxInt32)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Snapshot(tc.rows).FreeGpus); diff != "" {
				t.Errorf("freeGpus (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFreeGpusByProduct(t *testing.T) {
	type number struct{ Free, Largest *int32 }
	known := func(free, largest int32) number { return number{&free, &largest} }
	product := func(name string) func(*v1.GpuNode) {
		return func(n *v1.GpuNode) { n.Gpus[0].Product = name }
	}
	// second adds GPUs of another product of the vendor.
	second := func(name string, count int32) func(*v1.GpuNode) {
		return func(n *v1.GpuNode) {
			n.Gpus = append(n.Gpus, v1.GpuGroup{Vendor: v1.VendorNVIDIA, Product: name, Count: &count})
			n.GpuCount = new(*n.GpuCount + count)
			all := int64(*n.GpuCount)
			units(gpus, all, all)(n)
		}
	}
	cases := map[string]struct {
		rows []v1.GpuNode
		want map[string]number
	}{
		"the most on one node is the biggest job that fits": {
			rows: []v1.GpuNode{row("a", 8, product("A"), holding(gpus, 6)), row("b", 8, product("A"), holding(gpus, 3)), row("c", 8, product("A"), holding(gpus, 0), cordoned)},
			want: map[string]number{"A": known(7, 5)},
		},
		"one product unknown leaves another be": {
			rows: []v1.GpuNode{row("a", 8, product("A")), row("b", 8, product("B"), holding(gpus, 8)), row("c", 8, product("C"), notReady(v1.ReasonNodeNotReady))},
			want: map[string]number{"A": {}, "B": known(0, 0), "C": known(0, 0)},
		},
		"unknown counts are left out of the product": {
			rows: []v1.GpuNode{row("a", 8, product("A"), holding(gpus, 1)), row("b", 8, product("A"), holding(gpus, 0), func(n *v1.GpuNode) { n.GpuCount, n.Gpus[0].Count = nil, nil })},
			want: map[string]number{"A": known(7, 7)},
		},
		"what is held of a vendor may be of any of its products": {
			rows: []v1.GpuNode{row("a", 4, product("A"), second("B", 2), holding(gpus, 3))},
			want: map[string]number{"A": known(1, 1), "B": known(0, 0)},
		},
		"nothing held is nothing held": {
			rows: []v1.GpuNode{row("a", 4, product("A"), second("B", 2), holding(gpus, 0))},
			want: map[string]number{"A": known(4, 4), "B": known(2, 2)},
		},
		"absurd numbers do not wrap round": {
			rows: []v1.GpuNode{row("a", 1, product("A"), second("B", 8), units(gpus, 9, 1), units(draGpus, 8, 8), holding(gpus, math.MaxInt64), holding(draGpus, 0))},
			want: map[string]number{"A": known(0, 0), "B": known(0, 0)},
		},
		"two groups of a product are one": {
			rows: []v1.GpuNode{row("a", 4, product("A B"), second("A-B", 2), holding(gpus, 3))},
			want: map[string]number{"A-B": known(3, 3)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := map[string]number{}
			for _, p := range Snapshot(tc.rows).Products {
				got[p.Product] = number{p.FreeGpus, p.LargestFree}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("products (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResourcesSayWhatIsAllocatedAndFree(t *testing.T) {
	known := func(n int64) *int64 { return &n }
	cases := map[string]struct {
		rows []v1.GpuNode
		want []v1.ResourceSummary
	}{
		"nothing known": {[]v1.GpuNode{row("a", 8)}, []v1.ResourceSummary{{Name: gpus, Capacity: 8, Allocatable: 8}}},
		"held everywhere, free where it can be had": {
			[]v1.GpuNode{row("a", 8, holding(gpus, 3)), row("b", 8, holding(gpus, 1), cordoned), row("c", 8, holding(gpus, 8), notReady(v1.ReasonNodeNotReady))},
			[]v1.ResourceSummary{{Name: gpus, Capacity: 24, Allocatable: 24, Allocated: known(12), Free: known(5)}}},
		"too much held on one node is not free on another": {
			[]v1.GpuNode{row("a", 8, holding(gpus, 10)), row("b", 8, holding(gpus, 1))},
			[]v1.ResourceSummary{{Name: gpus, Capacity: 16, Allocatable: 16, Allocated: known(11), Free: known(7)}}},
		"unknown on a node that offers nothing": {
			[]v1.GpuNode{row("a", 8, cordoned), row("b", 8, holding(gpus, 1))},
			[]v1.ResourceSummary{{Name: gpus, Capacity: 16, Allocatable: 16, Free: known(7)}}},
		"names are told apart": {
			[]v1.GpuNode{row("a", 8, units(draGpus, 8, 7), holding(gpus, 2))},
			[]v1.ResourceSummary{{Name: draGpus, Capacity: 8, Allocatable: 7}, {Name: gpus, Capacity: 8, Allocatable: 8, Allocated: known(2), Free: known(6)}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Snapshot(tc.rows).Resources); diff != "" {
				t.Errorf("resources (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFreeProperties holds for fleets that nobody thought of.
func TestFreeProperties(t *testing.T) {
	var somethingFree, unknown int
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows := randomRows(rng)
		forget := rng.IntN(4) == 0
		for i := range rows {
			rows[i].Unschedulable = rng.IntN(5) == 0
			for j := range rows[i].Resources {
				if r := &rows[i].Resources[j]; !forget || rng.IntN(4) > 0 {
					r.Allocated = new(rng.Int64N(r.Allocatable + 3))
				}
			}
		}
		s := Snapshot(rows)
		if err := checkFree(s); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if diff := cmp.Diff(s, Snapshot(rows)); diff != "" {
			t.Fatalf("seed %d: the order of rows changes the result (-first +shuffled):\n%s", seed, diff)
		}
		if s.FreeGpus == nil {
			unknown++
		} else if *s.FreeGpus > 0 {
			somethingFree++
		}
		// One more unit held, wherever, never makes more GPUs free.
		for i := range rows {
			for j := range rows[i].Resources {
				r := &rows[i].Resources[j]
				if r.Allocated == nil {
					continue
				}
				*r.Allocated++
				if more := Snapshot(rows); s.FreeGpus != nil && *more.FreeGpus > *s.FreeGpus {
					t.Fatalf("seed %d: %d GPUs free, %d with a unit of %s more held on %s", seed, *s.FreeGpus, *more.FreeGpus, r.Name, rows[i].Name)
				}
				*r.Allocated--
			}
		}
	}
	if somethingFree < 50 || unknown < 50 {
		t.Errorf("too few cases to mean anything: %d with free GPUs, %d unknown", somethingFree, unknown)
	}
}

// checkFree checks a status against itself.
func checkFree(s v1.GpuInventoryStatus) error {
	var byProduct int32
	for _, p := range s.Products {
		if (p.FreeGpus == nil) != (p.LargestFree == nil) {
			return fmt.Errorf("product %q: free %v, largest %v", p.Product, p.FreeGpus, p.LargestFree)
		}
		byProduct += deref(p.FreeGpus)
		if deref(p.LargestFree) > deref(p.FreeGpus) || deref(p.FreeGpus) > deref(p.ReadyGpus) || deref(p.LargestFree) < 0 {
			return fmt.Errorf("product %q: largest %d of %d free of %d ready", p.Product, deref(p.LargestFree), deref(p.FreeGpus), deref(p.ReadyGpus))
		}
	}
	if s.FreeGpus != nil && (*s.FreeGpus != byProduct || *s.FreeGpus < 0 || *s.FreeGpus > deref(s.ReadyGpus)) {
		return fmt.Errorf("%d free, by product %d, ready %d", *s.FreeGpus, byProduct, deref(s.ReadyGpus))
	}
	for _, r := range s.Resources {
		if r.Free == nil || r.Allocated == nil {
			continue
		}
		var allocatable, held int64
		for _, n := range s.Nodes {
			for _, u := range n.Resources {
				if u.Name == r.Name && offers(&n) {
					allocatable += u.Allocatable
					held += min(*u.Allocated, u.Allocatable)
				}
			}
		}
		if *r.Free != allocatable-held || *r.Free < 0 {
			return fmt.Errorf("%s: %d free, %d of %d held on nodes that offer it", r.Name, *r.Free, held, allocatable)
		}
	}
	return nil
}

func BenchmarkSnapshot(b *testing.B) {
	rows := make([]v1.GpuNode, 0, 5000)
	for i := range cap(rows) {
		rows = append(rows, row(fmt.Sprintf("node-%04d", i), 8, holding(gpus, int64(i%9)), func(n *v1.GpuNode) { n.Gpus[0].Product = fmt.Sprint("product-", i%4) }))
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	b.ReportAllocs()
	for b.Loop() {
		Snapshot(rows)
	}
}
