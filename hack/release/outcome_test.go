package release

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The tests named TestReleased... look at what release.sh has made. It runs them before it ends, and says in the environment
// where everything is; without that there is nothing to look at.

// released is the outcome of release.sh.
type released struct {
	work         string // its folder
	image, chart name.Digest
	number       string // 1.2.3
	commit       string
	time         time.Time // of the commit
	index        v1.ImageIndex
}

func outcome(t *testing.T) released {
	t.Helper()
	r := released{work: os.Getenv("RELEASE_WORK"), commit: os.Getenv("RELEASE_COMMIT"), number: strings.TrimPrefix(os.Getenv("VERSION"), "v")}
	if r.work == "" {
		t.Skip("make release-dry-run runs this test on what it has made")
	}
	var seconds int64
	if _, err := fmt.Sscan(os.Getenv("SOURCE_DATE_EPOCH"), &seconds); err != nil {
		t.Fatal(err)
	}
	r.time = time.Unix(seconds, 0).UTC()
	for variable, ref := range map[string]*name.Digest{"RELEASE_IMAGE": &r.image, "RELEASE_CHART": &r.chart} {
		var err error
		if *ref, err = name.NewDigest(os.Getenv(variable)); err != nil {
			t.Fatal(err)
		}
	}
	index, err := remote.Index(r.image, remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		t.Fatal(err)
	}
	r.index = index
	return r
}

func (r released) asset(name string) string { return filepath.Join(r.work, "assets", name) }

// pulled is the image of one platform, as it is in the registry.
func (r released) pulled(t *testing.T, p v1.Platform) v1.Image {
	t.Helper()
	manifest, err := r.index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Manifests {
		if m.Platform.Equals(p) {
			img, err := r.index.Image(m.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return img
		}
	}
	t.Fatalf("no image for %s among %v", p, manifest.Manifests)
	return nil
}

func (r released) labels() map[string]string {
	labels := map[string]string{}
	for key, value := range map[string]string{
		"title":       imageName,
		"description": "Keeps one answer current: which GPUs a cluster has, which can be used, and why the others cannot.",
		"source":      sourceURL,
		"licenses":    "Apache-2.0",
		"version":     r.number,
		"revision":    r.commit,
		"created":     r.time.Format(time.RFC3339),
	} {
		labels["org.opencontainers.image."+key] = value
	}
	return labels
}

func TestReleasedImageNamesEachPlatform(t *testing.T) {
	r := outcome(t)
	manifest, err := r.index.IndexManifest()
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
	want := r.labels()
	maps.Copy(want, map[string]string{ // of ko: the base
		"org.opencontainers.image.base.name":   manifest.Annotations["org.opencontainers.image.base.name"],
		"org.opencontainers.image.base.digest": manifest.Annotations["org.opencontainers.image.base.digest"],
	})
	if diff := cmp.Diff(want, manifest.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if manifest.MediaType != types.OCIImageIndex {
		t.Errorf("media type %s", manifest.MediaType)
	}
}

func TestReleasedImageRunsTheManagerAsNobody(t *testing.T) {
	r := outcome(t)
	for _, p := range imagePlatforms {
		config, err := r.pulled(t, p).ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		want := v1.Config{
			User: imageUser, Entrypoint: []string{entrypoint}, WorkingDir: "/", Labels: r.labels(),
			Env: []string{"PATH=/ko-app", "KO_DATA_PATH=/var/run/ko"},
		}
		if diff := cmp.Diff(want, config.Config); diff != "" {
			t.Errorf("%s: config (-want +got):\n%s", p, diff)
		}
		if !config.Created.Equal(r.time) {
			t.Errorf("%s: created %s: want the time of the commit, %s", p, config.Created, r.time)
		}
	}
}

func TestReleasedImageIsOCIThroughout(t *testing.T) {
	r := outcome(t)
	for _, p := range imagePlatforms {
		manifest, err := r.pulled(t, p).Manifest()
		if err != nil {
			t.Fatal(err)
		}
		got := []types.MediaType{manifest.MediaType, manifest.Config.MediaType}
		want := []types.MediaType{types.OCIManifestSchema1, types.OCIConfigJSON}
		for _, layer := range manifest.Layers {
			got, want = append(got, layer.MediaType), append(want, types.OCILayer)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: media types (-want +got):\n%s", p, diff)
		}
	}
}

// contents lists what layers have, and writes the only program to a file.
func contents(layers []v1.Layer, program io.Writer) ([]string, error) {
	var found []string
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		if err != nil {
			return nil, err
		}
		for r := tar.NewReader(content); ; {
			header, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("read a layer: %w", err)
			}
			found = append(found, fmt.Sprintf("%s %d:%d /%s", header.FileInfo().Mode(), header.Uid, header.Gid, strings.TrimPrefix(header.Name, "/")))
			if header.Typeflag == tar.TypeReg {
				if _, err := io.Copy(program, r); err != nil { //nolint:gosec // our own image
					return nil, err
				}
			}
		}
	}
	return found, nil
}

func TestReleasedImageHoldsTheManagerAndNothingElse(t *testing.T) {
	r := outcome(t)
	for _, p := range imagePlatforms {
		layers, err := r.pulled(t, p).Layers()
		if err != nil {
			t.Fatal(err)
		}
		manager, err := os.OpenFile(filepath.Join(t.TempDir(), "manager"), os.O_CREATE|os.O_WRONLY, 0o700)
		if err != nil {
			t.Fatal(err)
		}
		found, err := contents(layers, manager)
		if err := errors.Join(err, manager.Close()); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"drwxr-xr-x 0:0 /var/run/ko", // ko's folder for data, empty
			"dr-xr-xr-x 0:0 /ko-app", "-r-xr-xr-x 0:0 " + entrypoint,
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", p, diff)
		}
		if err := inspect(manager.Name(), p); err != nil {
			t.Error(err)
		}
		r.assertSBOM(t, r.asset(fmt.Sprintf("%s_v%s_linux_%s.spdx.json", imageName, r.number, p.Architecture)), manager.Name())
		r.assertVersion(t, p, manager.Name(), "--version")
	}
}

// assertSBOM checks that an SBOM leaves out nothing that the program says it is made of.
func (r released) assertSBOM(t *testing.T, sbom, program string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(sbom))
	if err != nil {
		t.Fatal(err)
	}
	want, err := modules(program)
	if err != nil {
		t.Fatal(err)
	}
	packages, err := checkSBOM(text, want)
	if err != nil {
		t.Errorf("%s: %v", sbom, err)
	}
	t.Logf("%s: %d packages", filepath.Base(sbom), packages)
}

// assertVersion runs a program, where this machine can.
func (r released) assertVersion(t *testing.T, p v1.Platform, program string, args ...string) {
	t.Helper()
	if p.OS != runtime.GOOS || p.Architecture != runtime.GOARCH {
		return
	}
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Env = []string{}
	says, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(says), "v"+r.number) {
		t.Errorf("%s %s says %q, %v: want v%s", filepath.Base(program), args, says, err, r.number)
	}
}
