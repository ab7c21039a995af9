package release

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// attestation is a line as cosign verify-attestation prints it.
func attestation(digest, predicate string) string {
	statement := fmt.Sprintf(`{"subject":[{"digest":{"sha256":%q}}],"predicate":%s}`, digest, predicate)
	return fmt.Sprintf(`{"payloadType":"application/vnd.in-toto+json","payload":%q}`, base64.StdEncoding.EncodeToString([]byte(statement))) + "\n"
}

func TestAnAttestationMustBeAboutThisDigestAndHaveThisSBOM(t *testing.T) {
	for name, tc := range map[string]struct{ out, want string }{
		"the one that was attached":         {attestation("d1", `{"packages": [1, 2]}`), ""},
		"among others of the same image":    {attestation("d1", `{"packages":[3]}`) + attestation("d1", `{"packages":[1,2]}`), ""},
		"with words for people around it":   {"Verification for x --\n" + attestation("d1", `{"packages":[1,2]}`), ""},
		"only another SBOM":                 {attestation("d1", `{"packages":[3]}`), "no attestation of sha256:d1"},
		"about another digest":              {attestation("d2", `{"packages":[1,2]}`), "is about"},
		"nothing at all, though cosign 0'd": {"", "no attestation of sha256:d1"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkAttestations(tc.out, "d1", []byte(`{"packages":[1,2]}`))
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("checkAttestations() = %v: want %q", err, tc.want)
			}
		})
	}
}

func TestAnAttestationIsNoSignature(t *testing.T) {
	entry := func(kind, digest string) string {
		return fmt.Sprintf(`{"critical":{"type":%q,"image":{"docker-manifest-digest":%q}}}`, kind, digest)
	}
	sbom, signature := "https://spdx.dev/Document", "https://sigstore.dev/cosign/sign/v1"
	for name, tc := range map[string]struct{ out, want string }{
		"a signature":                  {"\n[" + entry(sbom, "sha256:d1") + "," + entry(signature, "sha256:d1") + "]\n", ""},
		"only an attestation":          {"[" + entry(sbom, "sha256:d1") + "]", "no signature among 1"},
		"a signature of another":       {"[" + entry(signature, "sha256:d2") + "]", "no signature among 1"},
		"nothing":                      {"[]", "no signature among 0"},
		"words in place of the answer": {"Verified OK", "read what cosign verify prints"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkSignatures(tc.out, "example.com/x@sha256:d1")
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("checkSignatures() = %v: want %q", err, tc.want)
			}
		})
	}
}

func TestAnSBOMMustHaveEveryModuleOfTheProgram(t *testing.T) {
	pkg := func(name, version string) string { return fmt.Sprintf(`{"name":%q,"versionInfo":%q}`, name, version) }
	doc := func(packages ...string) []byte {
		return []byte(`{"spdxVersion":"SPDX-2.3","packages":[` + strings.Join(packages, ",") + `]}`)
	}
	modules := []string{"stdlib@go1", "k8s.io/client-go@v2"}
	stdlib, client := pkg("stdlib", "go1"), pkg("k8s.io/client-go", "v2")
	for name, tc := range map[string]struct {
		doc   []byte
		count int
		want  string
	}{
		"all there":                 {doc(stdlib, client, pkg("x", "")), 3, ""},
		"a module is missing":       {doc(client), 0, "stdlib@go1 is missing"},
		"a module has no version":   {doc(stdlib, pkg("k8s.io/client-go", "")), 0, "client-go@v2 is missing"},
		"an empty document":         {doc(), 0, "missing among 0"},
		"a document of another art": {[]byte(`{"bomFormat":"CycloneDX"}`), 0, "not an SPDX"},
		"no document":               {[]byte("syft"), 0, "read SPDX"},
	} {
		t.Run(name, func(t *testing.T) {
			count, err := checkSBOM(tc.doc, modules)
			if count != tc.count || (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("checkSBOM() = %d, %v: want %d, %q", count, err, tc.count, tc.want)
			}
		})
	}
}

// program builds a small program with one module in it.
func program(t *testing.T, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"build", "-o", path}, flags, []string{"./testdata/program"})...) //nolint:gosec // flags of a test
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS=linux", "GOARCH=amd64", "GOAMD64=v1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

func TestAProgramTellsItsModules(t *testing.T) {
	got, err := modules(program(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0] != "stdlib@"+runtime.Version() || !strings.HasPrefix(got[1], "github.com/google/go-cmp@v0.") {
		t.Errorf("modules() = %v: want Go and go-cmp", got)
	}
}

func TestInspectRefusesABinaryThatIsNotAReleaseBuild(t *testing.T) {
	amd64, arm64 := imagePlatforms[0], imagePlatforms[1]
	release := program(t, "-trimpath", "-buildvcs=false")
	if err := inspect(release, amd64); err != nil {
		t.Error(err)
	}
	if err := inspect(release, arm64); err == nil {
		t.Error("inspect() accepts a binary of another platform")
	}
	if err := inspect(program(t, "-buildvcs=false"), amd64); err == nil {
		t.Error("inspect() accepts a binary that was built without -trimpath")
	}
	if err := inspect(program(t, "-trimpath", "-buildvcs=false", "-tags=x"), amd64); err == nil {
		t.Error("inspect() accepts a binary that was built with a tag")
	}
	if err := inspect("verify_test.go", amd64); err == nil || !strings.Contains(err.Error(), "verify_test.go") {
		t.Errorf("inspect() = %v: want an error that names the file", err)
	}
}
