package release

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// inspect reads what the compiler wrote about itself into a program of a release.
func inspect(path string, p v1.Platform) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read build info of %s: %w", path, err)
	}
	got := map[string]string{}
	for _, s := range info.Settings {
		got[s.Key] = s.Value
	}
	want := map[string]string{
		"-buildmode": "exe", "-compiler": "gc", "-trimpath": "true", "CGO_ENABLED": "0", "GOOS": p.OS, "GOARCH": p.Architecture,
	}
	switch p.Architecture {
	case "amd64":
		want["GOAMD64"] = "v1"
	case "arm64":
		want["GOARM64"] = "v8.0"
	}
	// Go leaves the linker's flags out of a program that was built with -trimpath, unless it has no version of its own.
	delete(got, "-ldflags")
	delete(got, "DefaultGODEBUG") // follows from go.mod
	if !maps.Equal(got, want) {
		return fmt.Errorf("%s is built with %v: want %v", path, got, want)
	}
	return nil
}

// modules lists what the compiler wrote into a program about its parts, as name@version.
func modules(program string) ([]string, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read build info of %s: %w", program, err)
	}
	all := []string{"stdlib@" + info.GoVersion}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		all = append(all, dep.Path+"@"+dep.Version)
	}
	return all, nil
}

// checkSBOM counts the packages of an SPDX document, and misses those that should be there: an SBOM that leaves something out is
// worse than none.
func checkSBOM(text []byte, want []string) (int, error) {
	var doc struct {
		SPDXVersion string
		Packages    []struct{ Name, VersionInfo string }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return 0, fmt.Errorf("read SPDX: %w", err)
	}
	if !strings.HasPrefix(doc.SPDXVersion, "SPDX-") {
		return 0, errors.New("not an SPDX document")
	}
	found := map[string]bool{}
	for _, p := range doc.Packages {
		found[p.Name+"@"+p.VersionInfo] = true
	}
	for _, module := range want {
		if !found[module] {
			return 0, fmt.Errorf("%s is missing among %d packages", module, len(doc.Packages))
		}
	}
	return len(doc.Packages), nil
}

// signatureType tells a signature from an attestation: cosign verify takes either for an answer.
const signatureType = "https://sigstore.dev/cosign/sign/v1"

// checkSignatures looks for a signature of this digest among what cosign has verified.
func checkSignatures(out, ref string) error {
	var entries []struct {
		Critical struct {
			Type  string
			Image struct {
				Digest string `json:"docker-manifest-digest"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &entries); err != nil {
		return fmt.Errorf("read what cosign verify prints: %w", err)
	}
	_, digest, _ := strings.Cut(ref, "@")
	for _, e := range entries {
		if e.Critical.Type == signatureType && e.Critical.Image.Digest == digest {
			return nil
		}
	}
	return fmt.Errorf("%s has no signature among %d things that cosign has verified", ref, len(entries))
}

// checkAttestations looks for one attestation, among those that cosign has verified, that is about this digest and has this SBOM.
func checkAttestations(out, digest string, sbom []byte) error {
	want, err := canonical(sbom)
	if err != nil {
		return fmt.Errorf("read the SBOM: %w", err)
	}
	for line := range strings.Lines(out) {
		var envelope struct{ Payload string }
		if json.Unmarshal([]byte(line), &envelope) != nil {
			continue // cosign's words for people
		}
		payload, err := base64.StdEncoding.DecodeString(envelope.Payload)
		if err != nil {
			return fmt.Errorf("read an attestation: %w", err)
		}
		var statement struct {
			Subject   []struct{ Digest map[string]string }
			Predicate json.RawMessage
		}
		if err := json.Unmarshal(payload, &statement); err != nil {
			return fmt.Errorf("read an attestation: %w", err)
		}
		if len(statement.Subject) != 1 || statement.Subject[0].Digest["sha256"] != digest {
			return fmt.Errorf("an attestation is about %v: want sha256:%s", statement.Subject, digest)
		}
		if got, err := canonical(statement.Predicate); err == nil && got == want {
			return nil
		}
	}
	return fmt.Errorf("no attestation of sha256:%s has the SBOM that was attached", digest)
}

// canonical is a JSON text without the freedom in its spelling.
func canonical(text []byte) (string, error) {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return "", err
	}
	out, err := json.Marshal(value)
	return string(out), err
}
