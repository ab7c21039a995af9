// Package quantity reads quantities that anybody may have written, and bounds what it believes of them.
//
// It imports apimachinery and the standard library.
package quantity

import "k8s.io/apimachinery/pkg/api/resource"

// Bounds of what is believed. A value beyond them is a mistake or an attack, and must not reach a total.
const (
	// MaxUnits is the most units of one resource: sums over a fleet stay inside int64.
	MaxUnits = int64(1) << 40
	// MaxMiB is the most memory of one GPU, 4 TiB.
	MaxMiB = int64(4) << 20
	// BytesPerMiB is the number of bytes in a MiB.
	BytesPerMiB = int64(1) << 20
)

// Units returns a quantity as whole units from 0 to MaxUnits. ok is false when the quantity is outside and was bounded.
func Units(q resource.Quantity) (n int64, ok bool) {
	if n, small := q.AsInt64(); small {
		bounded := min(max(n, 0), MaxUnits)
		return bounded, bounded == n
	}
	switch sign := q.Sign(); {
	case sign <= 0:
		return 0, sign == 0
	case astronomic(q) || q.CmpInt64(MaxUnits) > 0:
		return MaxUnits, false
	}
	return q.Value(), true
}

// MiB returns a quantity of bytes as MiB. It is nil when that is less than 1 MiB or more than one GPU can have.
func MiB(q resource.Quantity) *int64 {
	if q.Sign() <= 0 || astronomic(q) || q.CmpInt64(BytesPerMiB) < 0 || q.CmpInt64(MaxMiB*BytesPerMiB) > 0 {
		return nil
	}
	return new(q.Value() / BytesPerMiB)
}

// astronomic reports whether a quantity is written with so large an exponent, as in 1e9999999, that comparing it would take
// seconds: the comparison writes out all digits.
func astronomic(q resource.Quantity) bool {
	if _, small := q.AsInt64(); small {
		return false
	}
	return q.AsDec().Scale() < -18
}
