package gpu

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/quantity"
)

// Bounds of what is believed. A value beyond them is a mistake or an attack, and must not reach a total.
const (
	maxGPUs     = 1024 // physical GPUs, slices or list entries of one node
	maxUnits    = quantity.MaxUnits
	maxReplicas = int64(1) << 20 // replicas of one GPU
	maxMiB      = quantity.MaxMiB
	maxText     = v1.MaxMessageBytes // bytes of a message or of a quoted value
	maxName     = v1.MaxProductBytes // bytes of a product or variant
	bytesPerMiB = quantity.BytesPerMiB
)

// parseCount reads a plain decimal number from 0 to limit, the only form that discovery tools write. Signs, fractions,
// exponents, suffixes and blanks are refused.
func parseCount(s string, limit int64) (int64, bool) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || int64(n) > limit {
		return 0, false
	}
	return int64(n), true
}

// clip makes a text safe to print on one line and cuts it to at most limit bytes, never inside a character.
func clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "�")
	if strings.ContainsFunc(s, unprintable) {
		s = strings.Map(func(r rune) rune {
			if unprintable(r) {
				return ' '
			}
			return r
		}, s)
	}
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// count32 is a count as the API has it: nil when it is unknown, or not believable for the GPUs of one node.
func count32(n int64) *int32 {
	if n < 1 || n > maxGPUs {
		return nil
	}
	return new(int32(n))
}

// gpus spells a number of GPUs or units with its noun.
func plural(n int64, noun string) string {
	s := strconv.FormatInt(n, 10) + " " + noun
	if n != 1 {
		s += "s"
	}
	return s
}
