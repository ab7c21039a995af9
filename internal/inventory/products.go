package inventory

import "strings"

// SameProduct reports whether two sources mean the same model. Feature discovery writes - for the blanks that DRA drivers
// keep.
func SameProduct(a, b string) bool { return plainProduct(a) == plainProduct(b) }

// MaybeSameProduct reports whether two sources may mean the same model: one does not name it, or leaves out what the other
// puts before it, as in NVIDIA-A10, A10 and GA102GL_A10.
func MaybeSameProduct(a, b string) bool {
	a, b = plainProduct(a), plainProduct(b)
	if len(a) < len(b) {
		a, b = b, a
	}
	return b == "" || strings.HasSuffix(a, "-"+strings.TrimPrefix(b, "nvidia-"))
}

func plainProduct(s string) string { return blanks.Replace(strings.ToLower(s)) }

var blanks = strings.NewReplacer(" ", "-", "_", "-")
