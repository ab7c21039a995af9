package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

var (
	testCommit = commit{hash: strings.Repeat("a", 40), time: time.Unix(1_780_000_000, 0).UTC()}
	amd64      = platform{"linux", "amd64"}
)

func testImage(t *testing.T, manager string, p platform, c commit) v1.Image {
	t.Helper()
	img, err := image([]byte(manager), p, c, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestAnImageHoldsTheManagerAndNothingElse(t *testing.T) {
	img := testImage(t, "the program", amd64, testCommit)
	got, err := managerOf(img)
	if err != nil || string(got) != "the program" {
		t.Errorf("managerOf() = %q, %v: want the program", got, err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{
		User: "65532:65532", Entrypoint: []string{"/manager"}, WorkingDir: "/",
		Labels: labels(testCommit, "1.2.3"),
	}
	if diff := cmp.Diff(want, config.Config); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if !config.Created.Equal(testCommit.time) {
		t.Errorf("created %s: want the time of the commit, %s", config.Created, testCommit.time)
	}
}

func TestAnImageIsOCIThroughout(t *testing.T) {
	img := testImage(t, "the program", amd64, testCommit)
	manifest, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	got := []types.MediaType{manifest.MediaType, manifest.Config.MediaType, manifest.Layers[0].MediaType}
	want := []types.MediaType{types.OCIManifestSchema1, types.OCIConfigJSON, types.OCILayer}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("media types (-want +got):\n%s", diff)
	}
}

func TestADigestDependsOnTheCommitAndTheProgramAlone(t *testing.T) {
	digest := func(manager string, c commit) string {
		images := map[platform]v1.Image{}
		for _, p := range imagePlatforms {
			images[p] = testImage(t, manager, p, c)
		}
		d, err := index(images, c, "1.2.3").Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d.String()
	}
	first := digest("the program", testCommit)
	if second := digest("the program", testCommit); second != first {
		t.Errorf("the same input gives %s and %s", first, second)
	}
	later := commit{hash: testCommit.hash, time: testCommit.time.Add(time.Second)}
	if second := digest("the program", later); second == first {
		t.Error("another commit time gives the same digest")
	}
	if second := digest("another program", testCommit); second == first {
		t.Error("another program gives the same digest")
	}
}

func TestAnIndexNamesEachPlatform(t *testing.T) {
	images := map[platform]v1.Image{}
	for _, p := range imagePlatforms {
		images[p] = testImage(t, p.arch, p, testCommit)
	}
	manifest, err := index(images, testCommit, "1.2.3").IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range manifest.Manifests {
		got = append(got, m.Platform.String())
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func TestPullSizeCountsTheCompressedLayer(t *testing.T) {
	img := testImage(t, strings.Repeat("a", 1<<20), amd64, testCommit)
	got, err := pullSize(img)
	if err != nil {
		t.Fatal(err)
	}
	if got < 1<<10 || got > 16<<10 {
		t.Errorf("pullSize() = %d: want some KiB for 1 MiB of one letter", got)
	}
}

func TestAnImageWithMoreThanTheManagerIsRefused(t *testing.T) {
	one := testImage(t, "the program", amd64, testCommit)
	more, err := layer([]byte("another"), testCommit.time)
	if err != nil {
		t.Fatal(err)
	}
	two, err := mutate.AppendLayers(one, more)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := managerOf(two); err == nil {
		t.Error("an image with two layers passes")
	}
	shell, err := tgzOf([]archiveFile{{"manager", 0o755, []byte("the program")}, {"bin/sh", 0o755, []byte("a shell")}}, testCommit.time)
	if err != nil {
		t.Fatal(err)
	}
	twoFiles, err := tarball.LayerFromReader(bytes.NewReader(shell)) //nolint:staticcheck // the layer is small
	if err != nil {
		t.Fatal(err)
	}
	img, err := mutate.AppendLayers(empty.Image, twoFiles)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := managerOf(img); err == nil || !strings.Contains(err.Error(), "more than /manager") {
		t.Errorf("managerOf() = %v: want a refusal of bin/sh", err)
	}
}
