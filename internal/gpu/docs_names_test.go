package gpu

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// vendorPages are the pages with resource names, and the vendor whose names each of them has.
var vendorPages = map[string]v1.Vendor{
	"nvidia.md": v1.VendorNVIDIA,
	"amd.md":    v1.VendorAMD,
	"intel.md":  v1.VendorIntel,
	"habana.md": v1.VendorHabana,
	"others.md": v1.VendorUnknown,
}

func TestDocumentationListsTheResourceNames(t *testing.T) {
	want, got := map[string]string{}, map[string]string{}
	for name, c := range resourceNames {
		want[name] = string(c.Vendor) + " " + string(c.Kind)
	}
	for page, vendor := range vendorPages {
		rows := docTable(t, page, "Resource names", 0)
		for i, name := range firsts(t, rows) {
			if got[name] != "" {
				t.Errorf("two pages have %s", name)
			}
			got[name] = string(vendor) + " " + code(rows[i][1])[0]
		}
	}
	documents(t, "resource names", want, got)
}

func TestDocumentationListsTheKindsOfUnits(t *testing.T) {
	var kinds []string
	for page := range vendorPages {
		tables := docTables(t, page)
		for _, row := range slices.Concat(slices.Concat(tables["Resource names"], tables["Forms of names"])...) {
			kinds = append(kinds, code(row[len(row)-1])...)
		}
	}
	slices.Sort(kinds)
	documents(t, "kinds of units that names have", constants(t, ".", "UnitKind"), slices.Compact(kinds))
	units := firsts(t, docTable(t, "resource-names.md", "Kinds of units", 0))
	slices.Sort(units)
	documents(t, "kinds of units", constants(t, ".", "UnitKind"), units)
}

func TestDocumentationShowsTheFormsOfResourceNames(t *testing.T) {
	forms := 0
	for page, vendor := range vendorPages {
		for _, row := range slices.Concat(docTables(t, page)["Forms of names"]...) {
			forms++
			name := code(row[1])[0]
			c, ok := Classify(name, Options{})
			if got, want := fmt.Sprintf("%s %s %v", c.Vendor, c.Kind, ok), string(vendor)+" "+code(row[2])[0]+" true"; got != want {
				t.Errorf("%s is %s, documented is %s", name, got, want)
			}
		}
	}
	if forms < 18 {
		t.Errorf("the pages have %d forms of names, want 18", forms)
	}
	_, words, _ := strings.Cut(docText(t, "nvidia.md"), "if it contains one of these words, in upper or lower case:")
	words, _, _ = strings.Cut(words, "\n\n")
	documents(t, "words of names that are no GPU", notGPUWords, code(words))
}
