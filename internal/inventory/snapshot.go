package inventory

import (
	"cmp"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Snapshot adds up rows, one per GPU node, to the content of a GpuInventory status. It sorts everything, so that equal fleets
// give equal results whatever the order of rows. Conditions have no times, and ObservedAt and ObservedGeneration stay unset:
// they belong to a write, not to the fleet. The result shares the rows' inner slices.
func Snapshot(rows []v1.GpuNode) v1.GpuInventoryStatus {
	nodes := slices.Clone(rows)
	slices.SortFunc(nodes, func(a, b v1.GpuNode) int {
		return cmp.Or(compareBools(a.Ready, b.Ready), cmp.Compare(a.Name, b.Name))
	})
	t := totals{products: map[productKey]*productTally{}}
	for i := range nodes {
		t.add(&nodes[i])
	}
	s := v1.GpuInventoryStatus{
		TotalGpuNodes: new(int32(len(nodes))), ReadyGpuNodes: &t.ready, UnknownGpuNodes: &t.unknown,
		TotalGpus: t.gpus.value(), ReadyGpus: t.readyGpus.value(),
		Products: t.productRows(), Resources: resources(nodes), Nodes: nodes,
	}
	s.FreeGpus, _ = t.free.values()
	s.Conditions = append(s.Conditions, healthy(&s), complete(&s))
	return s
}

// totals adds up the GPUs of nodes.
type totals struct {
	ready, unknown  int32
	gpus, readyGpus sum
	free            freeSum
	products        map[productKey]*productTally

	vendors []vendorGpus // of the node that is being added
}

type productKey struct {
	vendor  v1.Vendor
	product string
}

type productTally struct {
	nodes, readyNodes int32
	gpus, readyGpus   sum
	free              freeSum
}

// keyOf returns the product of a group. Feature discovery writes - for the blanks that DRA drivers keep; both are one product.
func keyOf(g *v1.GpuGroup) productKey {
	return productKey{g.Vendor, strings.ReplaceAll(g.Product, " ", "-")}
}

func (t *totals) add(n *v1.GpuNode) {
	if n.GpuCount == nil {
		t.unknown++
	}
	if n.Ready {
		t.ready++
		t.vendors = vendorsOf(n, t.vendors)
	}
	for i := range n.Gpus {
		g := &n.Gpus[i]
		k := keyOf(g)
		p := t.products[k]
		if p == nil {
			p = &productTally{}
			t.products[k] = p
		}
		t.gpus.add(g.Count)
		p.gpus.add(g.Count)
		if n.Ready {
			usable := ofVendor(t.vendors, g.Vendor).usable(g.Count)
			t.readyGpus.add(usable)
			p.readyGpus.add(usable)
		}
		if !slices.ContainsFunc(n.Gpus[:i], func(o v1.GpuGroup) bool { return keyOf(&o) == k }) {
			t.addProduct(p, n, k)
		}
	}
	if offers(n) {
		for i := range t.vendors {
			v := &t.vendors[i]
			t.free.add(v, v.count, v.counted)
		}
	}
}

// addProduct adds what a node adds once, however many groups of the product it has.
func (t *totals) addProduct(p *productTally, n *v1.GpuNode, k productKey) {
	p.nodes++
	p.readyNodes += int32FromBool(n.Ready)
	if !offers(n) {
		return
	}
	var count int64
	counted := false
	for i := range n.Gpus {
		if g := &n.Gpus[i]; g.Count != nil && keyOf(g) == k {
			count += int64(*g.Count)
			counted = true
		}
	}
	p.free.add(ofVendor(t.vendors, k.vendor), count, counted)
}

// productRows returns one row per vendor and product.
func (t *totals) productRows() []v1.ProductSummary {
	out := make([]v1.ProductSummary, 0, len(t.products))
	for k, p := range t.products {
		row := v1.ProductSummary{
			Vendor: k.vendor, Product: k.product,
			Nodes: p.nodes, ReadyNodes: p.readyNodes,
			Gpus: p.gpus.value(), ReadyGpus: p.readyGpus.value(),
		}
		row.FreeGpus, row.LargestFree = p.free.values()
		out = append(out, row)
	}
	slices.SortFunc(out, func(a, b v1.ProductSummary) int {
		return cmp.Or(cmp.Compare(a.Vendor, b.Vendor), cmp.Compare(a.Product, b.Product))
	})
	return orNil(out)
}

// resourceTally adds up one resource name. A sum is unknown when it is not known on one of the nodes what is held.
type resourceTally struct {
	v1.ResourceSummary
	allocated, free               int64
	allocatedUnknown, freeUnknown bool
}

func (t *resourceTally) add(n *v1.GpuNode, r *v1.NodeResource) {
	t.Capacity = addUnits(t.Capacity, r.Capacity)
	t.Allocatable = addUnits(t.Allocatable, r.Allocatable)
	if r.Allocated == nil {
		t.allocatedUnknown = true
		t.freeUnknown = t.freeUnknown || offers(n)
		return
	}
	t.allocated = addUnits(t.allocated, *r.Allocated)
	if offers(n) {
		t.free = addUnits(t.free, max(r.Allocatable-*r.Allocated, 0))
	}
}

func (t *resourceTally) row() v1.ResourceSummary {
	row := t.ResourceSummary
	if !t.allocatedUnknown {
		row.Allocated = new(t.allocated)
	}
	if !t.freeUnknown {
		row.Free = new(t.free)
	}
	return row
}

// resources returns one row per schedulable resource name.
func resources(nodes []v1.GpuNode) []v1.ResourceSummary {
	byName := map[string]*resourceTally{}
	for i := range nodes {
		n := &nodes[i]
		for j := range n.Resources {
			r := &n.Resources[j]
			t := byName[r.Name]
			if t == nil {
				t = &resourceTally{ResourceSummary: v1.ResourceSummary{Name: r.Name}}
				byName[r.Name] = t
			}
			t.add(n, r)
		}
	}
	out := make([]v1.ResourceSummary, 0, len(byName))
	for _, t := range byName {
		out = append(out, t.row())
	}
	slices.SortFunc(out, func(a, b v1.ResourceSummary) int { return cmp.Compare(a.Name, b.Name) })
	return orNil(out)
}

// orNil makes an empty list absent, as it is after a round trip through the API server.
func orNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}

func compareBools(a, b bool) int { return cmp.Compare(int32FromBool(a), int32FromBool(b)) }

func int32FromBool(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
