package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// pushImage pushes the image, pulls it back, and lets others say what it is: cosign and syft.
func (r *release) pushImage(ctx context.Context) error {
	tag, err := name.NewTag(r.registry + "/" + imageName + ":" + r.number)
	if err != nil {
		return err
	}
	opts := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	if r.loopback {
		opts = []remote.Option{remote.WithContext(ctx)}
	}
	r.say("pushing the image %s", tag)
	if err := remote.WriteIndex(tag, r.index, opts...); err != nil {
		return fmt.Errorf("push %s: %w", tag, err)
	}
	pulled, err := remote.Index(tag, opts...)
	if err != nil {
		return fmt.Errorf("pull %s: %w", tag, err)
	}
	if err := sameDigest(r.index, pulled); err != nil {
		return fmt.Errorf("%s as pulled: %w", tag, err)
	}
	digest, err := r.index.Digest()
	if err != nil {
		return err
	}
	r.digests["image"] = digest.String()
	ref := tag.Context().Digest(digest.String())
	r.say("signing and verifying %s", ref)
	if err := r.signer.sign(ctx, ref.String()); err != nil {
		return err
	}
	rows := []row{{what: "image " + r.number, digest: digest.String(), signature: "verified", sbom: "of each platform"}}
	for _, p := range imagePlatforms {
		row, err := r.checkImage(ctx, pulled, ref, p)
		if err != nil {
			return fmt.Errorf("image for %s: %w", p, err)
		}
		rows = append(rows, row)
	}
	r.rows = append(rows, r.rows...)
	return nil
}

// checkImage looks at the image of one platform as it was pulled, and attests its SBOM: to the image itself, and to the index,
// which is what a tag names.
func (r *release) checkImage(ctx context.Context, pulled v1.ImageIndex, ref name.Digest, p platform) (row, error) {
	want, err := r.images[p].Digest()
	if err != nil {
		return row{}, err
	}
	img, err := pulled.Image(want)
	if err != nil {
		return row{}, err
	}
	size, err := pullSize(img)
	if err != nil {
		return row{}, err
	}
	if size > maxImageSize {
		return row{}, fmt.Errorf("a node pulls %s: at most %s is promised", mib(size), mib(maxImageSize))
	}
	if err := r.runPulled(ctx, img, p); err != nil {
		return row{}, err
	}
	self := ref.Context().Digest(want.String()).String()
	path := filepath.Join(r.work, fmt.Sprintf("%s_%s_%s_%s.spdx.json", imageName, r.version, p.os, p.arch))
	if err := r.signer.verifySignature(ctx, self); err != nil {
		return row{}, err
	}
	packages, err := makeSBOM(ctx, r.syft, self, path, r.managers[p], r.signer.env)
	if err != nil {
		return row{}, err
	}
	r.say("attesting the SBOM for %s and verifying it", p)
	for _, subject := range []string{self, ref.String()} {
		if err := r.signer.attestSBOM(ctx, subject, path); err != nil {
			return row{}, err
		}
	}
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return row{}, err
	}
	r.files = append(r.files, newAsset(filepath.Base(path), text))
	return row{what: "  " + p.String(), digest: want.String(), size: size, signature: "verified", sbom: fmt.Sprintf("%d packages", packages)}, nil
}

// runPulled compares the program in the pulled image with the one that was built and, where this machine can, runs it.
func (r *release) runPulled(ctx context.Context, img v1.Image, p platform) error {
	manager, err := managerOf(img)
	if err != nil {
		return err
	}
	built, err := os.ReadFile(r.managers[p])
	if err != nil {
		return err
	}
	if !bytes.Equal(manager, built) {
		return errors.New("the program in the pulled image is not the one that was built")
	}
	if p != (platform{runtime.GOOS, runtime.GOARCH}) {
		return nil
	}
	path := filepath.Join(r.work, "pulled-manager")
	if err := os.WriteFile(path, manager, 0o700); err != nil {
		return err
	}
	says, err := output(ctx, command{name: path, args: []string{"--version"}, env: []string{}})
	if err == nil && !strings.Contains(says, r.version) {
		err = fmt.Errorf("manager --version says %q: want %s", says, r.version)
	}
	return err
}

func (r *release) pushChart(ctx context.Context) error {
	archive, err := packageChart(r.chart, r.work, r.commit.time)
	if err != nil {
		return err
	}
	client, err := helmClient(r.loopback)
	if err != nil {
		return fmt.Errorf("make a client for charts: %w", err)
	}
	repository := r.registry + "/charts/" + chartName
	r.say("pushing the chart oci://%s, version %s", repository, r.number)
	digest, err := pushChart(client, archive, repository+":"+r.number, r.commit.time)
	if err != nil {
		return err
	}
	r.digests["chart"] = digest
	r.say("signing and verifying %s@%s", repository, digest)
	if err := r.signer.sign(ctx, repository+"@"+digest); err != nil {
		return err
	}
	chartRow := row{what: "chart " + r.number, digest: digest, size: int64(len(archive)), signature: "verified"}
	r.rows = append(r.rows[:3:3], append([]row{chartRow}, r.rows[3:]...)...)
	return nil
}
