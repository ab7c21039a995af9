package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func packed(t *testing.T, p platform) asset {
	t.Helper()
	a, err := pack(p, "v1.2.3", []byte("the program"), []byte("the license"), testCommit.time)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnArchiveHasTheProgramAndTheLicense(t *testing.T) {
	linux := packed(t, platform{"linux", "arm64"})
	if linux.Name != "kubectl-gpuinv_v1.2.3_linux_arm64.tar.gz" {
		t.Errorf("name %s", linux.Name)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(linux.data))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if err != nil {
			break
		}
		got = append(got, header.FileInfo().Mode().String()+" "+header.Name)
	}
	if diff := cmp.Diff([]string{"-rw-r--r-- LICENSE", "-rwxr-xr-x kubectl-gpuinv"}, got); diff != "" {
		t.Errorf("tar (-want +got):\n%s", diff)
	}

	windows := packed(t, platform{"windows", "amd64"})
	if windows.Name != "kubectl-gpuinv_v1.2.3_windows_amd64.zip" {
		t.Errorf("name %s", windows.Name)
	}
	r, err := zip.NewReader(bytes.NewReader(windows.data), int64(len(windows.data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.File) != 2 || r.File[1].Name != "kubectl-gpuinv.exe" {
		t.Errorf("zip has %v", r.File)
	}
}

func TestPackingTwiceGivesTheSameBytes(t *testing.T) {
	for _, p := range pluginPlatforms {
		if first, second := packed(t, p), packed(t, p); first.SHA256 != second.SHA256 {
			t.Errorf("%s: two archives differ", p)
		}
	}
}

func TestTheKrewManifestNamesEachArchive(t *testing.T) {
	var assets []asset
	for _, p := range pluginPlatforms {
		assets = append(assets, packed(t, p))
	}
	text, err := krewManifest(assets, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Spec struct {
			Version   string
			Platforms []struct {
				URI, SHA256, Bin string
				Selector         struct{ MatchLabels map[string]string }
			}
		}
	}
	if err := yaml.Unmarshal(text, &manifest); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	if manifest.Spec.Version != "v1.2.3" || len(manifest.Spec.Platforms) != len(pluginPlatforms) {
		t.Fatalf("version %q and %d platforms", manifest.Spec.Version, len(manifest.Spec.Platforms))
	}
	last := manifest.Spec.Platforms[len(pluginPlatforms)-1]
	want := "https://github.com/gpu-inventory/gpu-inventory-operator/releases/download/v1.2.3/kubectl-gpuinv_v1.2.3_windows_amd64.zip"
	if last.URI != want || last.Bin != "kubectl-gpuinv.exe" || len(last.SHA256) != 64 || last.Selector.MatchLabels["os"] != "windows" {
		t.Errorf("platform %+v", last)
	}
}

func TestTheFilesOfAReleaseAreListedInItsChecksums(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	assets := []asset{newAsset("b", []byte("two")), newAsset("a", []byte("one"))}
	if err := writeAssets(dir, assets); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := sha256Hex([]byte("one")) + "  a\n" + sha256Hex([]byte("two")) + "  b\n"
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("checksums.txt (-want +got):\n%s", diff)
	}
	for _, a := range assets {
		sum, err := sha256File(filepath.Join(dir, a.Name))
		if err != nil || sum != a.SHA256 {
			t.Errorf("%s: %s, %v: want %s", a.Name, sum, err, a.SHA256)
		}
	}
}
