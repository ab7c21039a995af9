package gpu

import (
	"cmp"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Fields of the row that evidence can decide.
const (
	fieldPresence  = "presence"
	fieldProduct   = "product"
	fieldVariant   = "variant"
	fieldCount     = "count"
	fieldMemory    = "memory"
	fieldSharing   = "sharing"
	fieldMode      = "workloadMode"
	fieldResources = "resources"
	fieldReady     = "ready"
	fieldWarnings  = "warnings"
)

// findings is what was seen, what each piece decided, and the warnings that came up on the way.
type findings struct {
	entries  []Evidence
	warnings []v1.Warning
	details  []string // sentences that explain a warning on a ready node
}

// explain adds a sentence to the details.
func (f *findings) explain(sentences ...string) { f.details = append(f.details, sentences...) }

// see records a piece of evidence.
func (f *findings) see(kind EvidenceKind, key, value, says string) {
	f.entries = append(f.entries, Evidence{Kind: kind, Key: key, Value: clip(value, maxText), Says: says})
}

// use records that a piece of evidence decided a field. A piece that was never seen is left out.
func (f *findings) use(kind EvidenceKind, key, field string) {
	for i := range f.entries {
		e := &f.entries[i]
		if e.Kind == kind && e.Key == key && !slices.Contains(e.Decides, field) {
			e.Decides = append(e.Decides, field)
		}
	}
}

// warn records a warning, once.
func (f *findings) warn(w v1.Warning) {
	if !slices.Contains(f.warnings, w) {
		f.warnings = append(f.warnings, w)
	}
}

// sorted returns the evidence in an order that does not depend on how maps were walked, each piece once.
func (f *findings) sorted() []Evidence {
	for i := range f.entries {
		slices.Sort(f.entries[i].Decides)
	}
	slices.SortFunc(f.entries, func(a, b Evidence) int {
		if c := strings.Compare(string(a.Kind), string(b.Kind)); c != 0 {
			return c
		}
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value))
	})
	f.entries = slices.CompactFunc(f.entries, func(a, b Evidence) bool { return a.Kind == b.Kind && a.Key == b.Key })
	return f.entries
}

// sortedWarnings returns the warnings in alphabetical order.
func (f *findings) sortedWarnings() []v1.Warning {
	slices.Sort(f.warnings)
	return f.warnings
}
