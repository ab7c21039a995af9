package inventory

import (
	"fmt"
	"unicode/utf8"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// MaxNote is how many bytes the API server takes as the note of an Event.
const MaxNote = 1024

// maxConditionMessage keeps conditions readable. The API server takes more.
const maxConditionMessage = 4096

// Clip cuts a text to at most limit bytes, never inside a character, and marks that it did.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "..."
	cut := limit - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}

// boundSummaries leaves out products and resources beyond what the API accepts, and returns a text about what is left out. Only
// forged labels can cause so many.
func boundSummaries(s *v1.GpuInventoryStatus) (omitted string) {
	if n := len(s.Products); n > v1.MaxSummaries {
		s.Products = s.Products[:v1.MaxSummaries]
		omitted = fmt.Sprintf("%d of %d products left out", n-v1.MaxSummaries, n)
	}
	if n := len(s.Resources); n > v1.MaxSummaries {
		s.Resources = s.Resources[:v1.MaxSummaries]
		if omitted != "" {
			omitted += "; "
		}
		omitted += fmt.Sprintf("%d of %d resources left out", n-v1.MaxSummaries, n)
	}
	return omitted
}
