package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheTableShowsWhatWasVerified(t *testing.T) {
	var out strings.Builder
	err := printTable(&out, []row{
		{what: "image 1.2.3", digest: "sha256:aa", signature: "verified", sbom: "90 packages"},
		{what: "chart 1.2.3", digest: "sha256:bb", size: 20 << 10, signature: "verified"},
		{what: "plugin", digest: "sha256:cc", size: 3 << 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `WHAT         DIGEST     SIZE      SIGNATURE  SBOM
image 1.2.3  sha256:aa  -         verified   90 packages
chart 1.2.3  sha256:bb  20.0 KiB  verified   -
plugin       sha256:cc  3.0 MiB   -          -
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestOutputsAreAppendedInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outputs")
	for _, outputs := range []map[string]string{{"image": "sha256:aa", "chart": "sha256:bb"}, {"more": "x"}} {
		if err := appendOutputs(path, outputs); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("chart=sha256:bb\nimage=sha256:aa\nmore=x\n", string(got)); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}
