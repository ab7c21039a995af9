package inventory

import "strings"

// sameProduct compares base names. Feature discovery writes - for the blanks that DRA drivers keep.
func sameProduct(a, b string) bool { return plainProduct(a) == plainProduct(b) }

func plainProduct(s string) string { return blanks.Replace(strings.ToLower(s)) }

var blanks = strings.NewReplacer(" ", "-", "_", "-")

// akin reports whether two sources may mean the same model: one does not name it, or leaves out what the other puts before
// it, as in NVIDIA-A10, A10 and GA102GL_A10.
func akin(a, b string) bool {
	a, b = plainProduct(a), plainProduct(b)
	if len(a) < len(b) {
		a, b = b, a
	}
	return b == "" || strings.HasSuffix(a, "-"+strings.TrimPrefix(b, "nvidia-"))
}
