package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const oidcIssuer = "https://token.actions.githubusercontent.com"

// signer signs and verifies with the program cosign: what a user verifies with is what has verified here.
type signer struct {
	cosign string
	env    []string
	make   []string // flags of cosign sign and attest
	verify []string // flags of cosign verify and verify-attestation
	reject []string // flags of a verification that must fail
}

// throwawaySigner signs with a key that goes with the work folder, and tells no transparency log. Its programs get an environment
// in which nothing outside of this machine can be reached.
func throwawaySigner(ctx context.Context, cosign, work string) (*signer, error) {
	s := &signer{cosign: cosign, env: offline(work)}
	if err := os.MkdirAll(home(work), 0o700); err != nil {
		return nil, err
	}
	// Both name no service: neither is anything uploaded, nor is the list of public services fetched.
	config, root := filepath.Join(home(work), "signing-config.json"), filepath.Join(home(work), "trusted-root.json")
	if _, err := s.run(ctx, nil, "signing-config", "create", "--out", config); err != nil {
		return nil, err
	}
	if _, err := s.run(ctx, nil, "trusted-root", "create", "--out", root); err != nil {
		return nil, err
	}
	for _, name := range []string{"cosign", "stranger"} {
		if _, err := s.run(ctx, nil, "generate-key-pair", "--output-key-prefix", filepath.Join(home(work), name)); err != nil {
			return nil, err
		}
	}
	s.make = []string{"--key", filepath.Join(home(work), "cosign.key"), "--signing-config", config, "--trusted-root", root, "--yes"}
	s.verify = []string{"--key", filepath.Join(home(work), "cosign.pub"), "--insecure-ignore-tlog=true"}
	s.reject = []string{"--key", filepath.Join(home(work), "stranger.pub"), "--insecure-ignore-tlog=true"}
	return s, nil
}

// keylessSigner signs as the workflow that runs: cosign gets a certificate for it, and enters the signature in the public log.
func keylessSigner(cosign, identity string) *signer {
	flags := func(identity string) []string {
		return []string{"--certificate-identity", identity, "--certificate-oidc-issuer", oidcIssuer}
	}
	return &signer{
		cosign: cosign, env: os.Environ(), make: []string{"--yes"},
		verify: flags(identity), reject: flags(identity + "-not"),
	}
}

func home(work string) string { return filepath.Join(work, "home") }

// offline is an environment in which a program finds no home but one in the work folder, and no way out but to this machine.
func offline(work string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home(work), "TMPDIR=" + work, "DOCKER_CONFIG=" + home(work), "XDG_CACHE_HOME=" + home(work),
		"COSIGN_PASSWORD=", "SYFT_CHECK_FOR_APP_UPDATE=false",
		"HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1",
	}
}

func (s *signer) run(ctx context.Context, flags []string, args ...string) (string, error) {
	return output(ctx, command{name: s.cosign, args: slices.Concat(args, flags), env: s.env})
}

// sign signs what a digest names, and with it each image of an index, then verifies.
func (s *signer) sign(ctx context.Context, ref string) error {
	if _, err := s.run(ctx, s.make, "sign", "--recursive", ref); err != nil {
		return err
	}
	return s.verifySignature(ctx, ref)
}

// verifySignature verifies, and makes sure that the same verification refuses a stranger.
func (s *signer) verifySignature(ctx context.Context, ref string) error {
	out, err := s.run(ctx, s.verify, "verify", ref)
	if err != nil {
		return err
	}
	if err := checkSignatures(out, ref); err != nil {
		return err
	}
	if _, err := s.run(ctx, s.reject, "verify", ref); err == nil {
		return fmt.Errorf("cosign verify %s passes for a signer who did not sign it", ref)
	}
	return ctx.Err()
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

// attestSBOM signs the statement that an image has this SBOM, reads it back, and compares.
func (s *signer) attestSBOM(ctx context.Context, ref, path string) error {
	if _, err := s.run(ctx, s.make, "attest", "--type", "spdxjson", "--predicate", path, ref); err != nil {
		return err
	}
	out, err := s.run(ctx, s.verify, "verify-attestation", "--type", "spdxjson", ref)
	if err != nil {
		return err
	}
	if _, err := s.run(ctx, s.reject, "verify-attestation", "--type", "spdxjson", ref); err == nil {
		return fmt.Errorf("cosign verify-attestation %s passes for a signer who did not attest it", ref)
	}
	sbom, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return err
	}
	_, digest, _ := strings.Cut(ref, "@sha256:")
	return errors.Join(ctx.Err(), checkAttestations(out, digest, sbom))
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
