package memory

import (
	"slices"
	"time"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// fromRow returns what a row of a status written at a time remembers. It has no groups when none is worth remembering.
func fromRow(row *v1.GpuNode, at time.Time) *remembered {
	m := &remembered{
		asOf: at, sharing: row.Sharing, mode: row.WorkloadMode,
		units: ownUnits(row.Resources), mixed: slices.Contains(row.Warnings, v1.WarningMixedProducts),
	}
	for _, stored := range row.Gpus {
		g := group{GpuGroup: stored, live: stored.Source != v1.SourceLastKnown, seeded: true, seen: at}
		if !g.live && row.LastSeen != nil {
			g.seen = row.LastSeen.Time
		}
		if disputed(row) {
			g.Source = v1.SourceResources // its count may be one of units
		}
		if !g.live || saysMore(stored) || divided(row.Sharing) || row.Reason == v1.ReasonNoAllocatableGpu {
			m.groups = append(m.groups, g)
		}
	}
	if measured(row) {
		m.most = most{*row.GpuCount, onlyUnits(row.Gpus), row.Sharing}
	}
	if earlier, ok := earlierCount(row.Message); ok && earlier > m.most.gpus {
		m.most = most{gpus: earlier, sharing: row.Sharing}
	}
	return m
}

// ownUnits returns the units that a node has. A stored row also lists resources that the node no longer has while units of
// them are held.
func ownUnits(resources []v1.NodeResource) []v1.NodeResource {
	return slices.DeleteFunc(slices.Clone(resources), func(r v1.NodeResource) bool { return r.Capacity == 0 && r.Allocatable == 0 })
}

// outranks reports whether a seed is to take the place of what is remembered.
func (m *remembered) outranks(old *remembered) bool {
	switch {
	case old == nil:
		return true
	case !old.asOf.IsZero():
		return m.asOf.After(old.asOf)
	case m.lastSeen().Before(old.created):
		return false // it is about an earlier Node
	default:
		return slices.ContainsFunc(old.groups, func(g group) bool { return g.Product == "" || g.Count == nil })
	}
}
