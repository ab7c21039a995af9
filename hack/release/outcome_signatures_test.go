package release

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// verified is what cosign has said of a reference.
func (r released) verified(t *testing.T, verb string, ref name.Digest) string {
	t.Helper()
	_, hash, _ := strings.Cut(ref.DigestStr(), ":")
	text, err := os.ReadFile(filepath.Join(r.work, "verified", verb+"-"+hash))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (r released) digest(t *testing.T, p v1.Platform) name.Digest {
	t.Helper()
	digest, err := r.pulled(t, p).Digest()
	if err != nil {
		t.Fatal(err)
	}
	return r.image.Context().Digest(digest.String())
}

func TestReleasedThingsAreSigned(t *testing.T) {
	r := outcome(t)
	signed := []name.Digest{r.image, r.chart}
	for _, p := range imagePlatforms {
		signed = append(signed, r.digest(t, p))
	}
	for _, ref := range signed {
		if err := checkSignatures(r.verified(t, "verify", ref), ref.String()); err != nil {
			t.Error(err)
		}
	}
}

// The SBOM of an image is attested to the image and to the index, which is what a tag names.
func TestReleasedSBOMsAreAttested(t *testing.T) {
	r := outcome(t)
	for _, p := range imagePlatforms {
		sbom, err := os.ReadFile(r.asset(fmt.Sprintf("%s_v%s_linux_%s.spdx.json", imageName, r.number, p.Architecture)))
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range []name.Digest{r.digest(t, p), r.image} {
			hash := strings.TrimPrefix(ref.DigestStr(), "sha256:")
			if err := checkAttestations(r.verified(t, "verify-attestation", ref), hash, sbom); err != nil {
				t.Errorf("%s: %v", p, err)
			}
		}
	}
}
