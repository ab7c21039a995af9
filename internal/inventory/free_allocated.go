package inventory

import (
	"cmp"
	"slices"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

// HoldersRead says which of those who hold GPUs have been read.
type HoldersRead struct {
	// Pods is true when all Pods have been read: they hold units of extended resources.
	Pods bool
	// Claims is true when all ResourceClaims have been read, or there can be none: they hold devices of DRA drivers.
	Claims bool
}

// of reports whether all that can hold units of a resource has been read.
func (h HoldersRead) of(resource string) bool {
	if isDRA(resource) {
		return h.Claims
	}
	return h.Pods
}

// WithAllocated fills in what is held of the rows' resources. It is absent where not all holders have been read. Units that
// pods hold of a resource that their node no longer has, as after it was renamed, get a resource of their own with a capacity
// of 0: the GPUs behind them are not free. Rows that change are copied; the given ones are never written to.
func WithAllocated(rows []v1.GpuNode, held holders.Held, read HoldersRead) []v1.GpuNode {
	out := rows
	for i := range rows {
		resources, changed := allocate(rows[i].Resources, held[rows[i].Name], read)
		if !changed {
			continue
		}
		if &out[0] == &rows[0] {
			out = slices.Clone(rows)
		}
		out[i].Resources = resources
	}
	return out
}

// allocate returns the resources with what is held of them, and whether they differ from the given ones.
func allocate(resources []v1.NodeResource, held map[string]int64, read HoldersRead) (out []v1.NodeResource, changed bool) {
	out = resources
	for i := range resources {
		r := &resources[i]
		n, isRead := max(held[r.Name], 0), read.of(r.Name)
		if isRead && r.Allocated != nil && *r.Allocated == n || !isRead && r.Allocated == nil {
			continue
		}
		if !changed {
			out, changed = slices.Clone(resources), true
		}
		out[i].Allocated = nil
		if isRead {
			out[i].Allocated = new(n)
		}
	}
	if gone := vanished(resources, held); read.Pods && len(gone) > 0 {
		out = slices.Concat(out, gone)
		slices.SortFunc(out, func(a, b v1.NodeResource) int { return cmp.Compare(a.Name, b.Name) })
		return out, true
	}
	return out, changed
}

// vanished returns the resources that are held on a node and that it no longer has, as many as its row has room for.
func vanished(resources []v1.NodeResource, held map[string]int64) (gone []v1.NodeResource) {
	for name, n := range held {
		if n > 0 && !isListed(resources, name) && countsAlone(name) {
			gone = append(gone, v1.NodeResource{Name: name, Allocated: new(n)})
		}
	}
	slices.SortFunc(gone, func(a, b v1.NodeResource) int { return cmp.Compare(a.Name, b.Name) })
	return gone[:min(len(gone), max(v1.MaxResources-len(resources), 0))]
}

func isListed(resources []v1.NodeResource, name string) bool {
	return slices.ContainsFunc(resources, func(r v1.NodeResource) bool { return r.Name == name })
}

// countsAlone reports whether a resource that a row does not list has no units on the node. Quantities and names that may be
// no GPU are left out of rows for other reasons, and devices of drivers while they are not all published.
func countsAlone(name string) bool {
	class, _ := classOf(name)
	return class.Kind != gpu.UnitQuantity && class.Kind != gpu.UnitFree && !isDRA(name)
}
