package dra

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocumentationListsTheAttributes(t *testing.T) {
	text, err := os.ReadFile("../../docs/recognition/dra.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Attributes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	got := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (.+) \\| (`.+`) \\|$").FindAllStringSubmatch(section, -1) {
		got[row[1]] = strings.Split(strings.Trim(row[2], "`"), "`, `")
	}
	want := map[string][]string{
		"PCI address": attrPCI, "PCI address of the GPU": attrParentPCI, "product": attrProduct,
		"profile": attrProfile, "health": attrHealth, "memory": capacityBytes,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/recognition/dra.md differs from the code (-code +documented):\n%s", diff)
	}
}
