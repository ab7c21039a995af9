package inventory

import (
	"fmt"
	"unicode/utf8"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// What the API accepts. A status that exceeds any of it is refused whole, so nothing may depend on what Nodes, specs and
// drivers happen to say.
const (
	maxMessage          = 1024
	maxConditionMessage = 4096
	maxGroups           = 64
	maxSummaries        = 2000

	// MaxNote is how many bytes the API server takes as the note of an Event.
	MaxNote = 1024
)

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

// bound keeps a row within what the API accepts.
func bound(n *v1.GpuNode) {
	n.Message = Clip(n.Message, maxMessage)
	if len(n.Gpus) > maxGroups {
		n.Gpus = n.Gpus[:maxGroups]
	}
}

// boundSummaries leaves out products and resources beyond what the API accepts, which only forged labels can bring about,
// and says what is missing.
func boundSummaries(s *v1.GpuInventoryStatus) (omitted string) {
	if n := len(s.Products); n > maxSummaries {
		s.Products = s.Products[:maxSummaries]
		omitted = fmt.Sprintf("%d of %d products left out", n-maxSummaries, n)
	}
	if n := len(s.Resources); n > maxSummaries {
		s.Resources = s.Resources[:maxSummaries]
		if omitted != "" {
			omitted += "; "
		}
		omitted += fmt.Sprintf("%d of %d resources left out", n-maxSummaries, n)
	}
	return omitted
}
