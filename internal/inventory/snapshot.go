package inventory

import (
	"cmp"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Snapshot adds up rows, one per GPU node, to the content of a GpuInventory status. It sorts everything, so that equal
// fleets give equal results whatever the order of rows. Conditions carry no times, and ObservedAt and ObservedGeneration
// stay unset: they belong to a write, not to the fleet. The result shares the rows' inner slices.
func Snapshot(rows []v1.GpuNode) v1.GpuInventoryStatus {
	nodes := slices.Clone(rows)
	slices.SortFunc(nodes, func(a, b v1.GpuNode) int {
		return cmp.Or(compareBool(a.Ready, b.Ready), cmp.Compare(a.Name, b.Name))
	})
	s := v1.GpuInventoryStatus{Nodes: nodes, Products: products(nodes), Resources: resources(nodes)}
	addTotals(&s)
	s.Conditions = append(s.Conditions, healthy(&s), complete(&s))
	return s
}

func addTotals(s *v1.GpuInventoryStatus) {
	var ready, unknown int32
	var total, readyGpus sum
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.GpuCount == nil {
			unknown++
		}
		if n.Ready {
			ready++
		}
		usable := usableByGroup(n)
		for g := range n.Gpus {
			total.add(n.Gpus[g].Count)
			if n.Ready {
				readyGpus.add(usable[g])
			}
		}
	}
	s.TotalGpuNodes = new(int32(len(s.Nodes)))
	s.ReadyGpuNodes = &ready
	s.UnknownGpuNodes = &unknown
	s.TotalGpus = total.value()
	s.ReadyGpus = readyGpus.value()
}

// products has one row per vendor and product. nodes must be sorted.
func products(nodes []v1.GpuNode) []v1.ProductSummary {
	type key struct {
		vendor  v1.Vendor
		product string
	}
	type tally struct {
		nodes, readyNodes int32
		gpus, readyGpus   sum
	}
	tallies := map[key]*tally{}
	for i := range nodes {
		n := &nodes[i]
		usable := usableByGroup(n)
		seen := map[key]bool{}
		for g := range n.Gpus {
			// Feature discovery writes - for the blanks that DRA drivers keep: one product, not two.
			k := key{n.Gpus[g].Vendor, strings.ReplaceAll(n.Gpus[g].Product, " ", "-")}
			t := tallies[k]
			if t == nil {
				t = &tally{}
				tallies[k] = t
			}
			if !seen[k] {
				seen[k] = true
				t.nodes++
				t.readyNodes += int32FromBool(n.Ready)
			}
			t.gpus.add(n.Gpus[g].Count)
			if n.Ready {
				t.readyGpus.add(usable[g])
			}
		}
	}
	out := make([]v1.ProductSummary, 0, len(tallies))
	for k, t := range tallies {
		out = append(out, v1.ProductSummary{
			Vendor: k.vendor, Product: k.product,
			Nodes: t.nodes, ReadyNodes: t.readyNodes,
			Gpus: t.gpus.value(), ReadyGpus: t.readyGpus.value(),
		})
	}
	slices.SortFunc(out, func(a, b v1.ProductSummary) int {
		return cmp.Or(cmp.Compare(a.Vendor, b.Vendor), cmp.Compare(a.Product, b.Product))
	})
	return orNil(out)
}

// resources has one row per schedulable resource name.
func resources(nodes []v1.GpuNode) []v1.ResourceSummary {
	byName := map[string]v1.ResourceSummary{}
	for i := range nodes {
		for _, r := range nodes[i].Resources {
			row := byName[r.Name]
			row.Name = r.Name
			row.Capacity = addUnits(row.Capacity, r.Capacity)
			row.Allocatable = addUnits(row.Allocatable, r.Allocatable)
			byName[r.Name] = row
		}
	}
	out := make([]v1.ResourceSummary, 0, len(byName))
	for _, r := range byName {
		out = append(out, r)
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

func compareBool(a, b bool) int { return cmp.Compare(int32FromBool(a), int32FromBool(b)) }

func int32FromBool(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
