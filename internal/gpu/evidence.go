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

// ledger is what was seen, what each piece decided, and the warnings that came up on the way.
type ledger struct {
	entries  []Evidence
	warnings []v1.Warning
}

// see records a piece of evidence.
func (l *ledger) see(kind EvidenceKind, key, value, says string) {
	l.entries = append(l.entries, Evidence{Kind: kind, Key: key, Value: clip(value, maxText), Says: says})
}

// use records that a piece of evidence decided a field. A piece that was never seen is left out.
func (l *ledger) use(kind EvidenceKind, key, field string) {
	for i := range l.entries {
		e := &l.entries[i]
		if e.Kind == kind && e.Key == key && !slices.Contains(e.Decides, field) {
			e.Decides = append(e.Decides, field)
		}
	}
}

// warn records a warning, once.
func (l *ledger) warn(w v1.Warning) {
	if !slices.Contains(l.warnings, w) {
		l.warnings = append(l.warnings, w)
	}
}

// sorted returns the evidence in an order that does not depend on how maps were walked, each piece once.
func (l *ledger) sorted() []Evidence {
	for i := range l.entries {
		slices.Sort(l.entries[i].Decides)
	}
	slices.SortFunc(l.entries, func(a, b Evidence) int {
		if c := strings.Compare(string(a.Kind), string(b.Kind)); c != 0 {
			return c
		}
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value))
	})
	l.entries = slices.CompactFunc(l.entries, func(a, b Evidence) bool { return a.Kind == b.Kind && a.Key == b.Key })
	return l.entries
}

// sortedWarnings returns the warnings in alphabetical order.
func (l *ledger) sortedWarnings() []v1.Warning {
	slices.Sort(l.warnings)
	return l.warnings
}
