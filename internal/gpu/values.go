package gpu

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Bounds of what is believed. A value beyond them is a mistake or an attack, and must not reach a total.
const (
	maxGPUs     = 1024               // physical GPUs, slices or list entries of one node
	maxUnits    = int64(1) << 40     // units of one resource: sums over a fleet stay inside int64
	maxReplicas = int64(1) << 20     // replicas of one GPU
	maxMiB      = int64(4) << 20     // 4 TiB in MiB: more cannot be MiB of one GPU
	maxText     = v1.MaxMessageBytes // bytes of a message or of a quoted value
	maxName     = v1.MaxProductBytes // bytes of a product or variant
	bytesPerMiB = int64(1) << 20
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

// units reads a quantity as whole units from 0 to maxUnits. ok is false when the quantity is outside and was bounded.
func units(q resource.Quantity) (n int64, ok bool) {
	switch sign := q.Sign(); {
	case sign <= 0:
		return 0, sign == 0
	case astronomic(q) || q.CmpInt64(maxUnits) > 0:
		return maxUnits, false
	}
	return q.Value(), true
}

// MaxUnits is the greatest number of units of one resource that is believed.
const MaxUnits = maxUnits

// Units returns a quantity as whole units, from 0 to MaxUnits.
func Units(q resource.Quantity) int64 {
	n, _ := units(q)
	return n
}

// quantityMiB reads a quantity of bytes as MiB. It is nil when that is less than 1 MiB or more than one GPU can have.
func quantityMiB(q resource.Quantity) *int64 {
	if q.Sign() <= 0 || astronomic(q) || q.CmpInt64(bytesPerMiB) < 0 || q.CmpInt64(maxMiB*bytesPerMiB) > 0 {
		return nil
	}
	return new(q.Value() / bytesPerMiB)
}

// astronomic reports whether a quantity is written with so large an exponent, as in 1e9999999, that comparing it would take
// seconds: the comparison writes out all digits.
func astronomic(q resource.Quantity) bool {
	if _, small := q.AsInt64(); small {
		return false
	}
	return q.AsDec().Scale() < -18
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
