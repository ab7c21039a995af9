package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"runtime"
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

func TestAProgramTellsItsModules(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got, err := modules(self)
	if err != nil {
		t.Fatal(err)
	}
	var helm bool
	for _, m := range got {
		helm = helm || strings.HasPrefix(m, "helm.sh/helm/v3@v3.")
	}
	if got[0] != "stdlib@"+runtime.Version() || !helm {
		t.Errorf("modules() = %v: want Go and helm among them", got)
	}
}

func TestAKeylessVerificationNamesTheWorkflowAndItsIssuer(t *testing.T) {
	s := keylessSigner("cosign", "https://example.com/w@refs/tags/v1")
	want := "--certificate-identity https://example.com/w@refs/tags/v1 --certificate-oidc-issuer https://token.actions.githubusercontent.com"
	if got := strings.Join(s.verify, " "); got != want {
		t.Errorf("verify flags: %s", got)
	}
	if strings.Join(s.reject, " ") == want {
		t.Error("the verification that must fail is the one that must pass")
	}
}
