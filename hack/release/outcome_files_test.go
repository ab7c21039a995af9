package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"sigs.k8s.io/yaml"
)

const pluginName = "kubectl-gpuinv"

var pluginPlatforms = []v1.Platform{
	{OS: "darwin", Architecture: "amd64"}, {OS: "darwin", Architecture: "arm64"},
	{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}, {OS: "windows", Architecture: "amd64"},
}

func (r released) archive(p v1.Platform) (file, program string) {
	extension, program := ".tar.gz", pluginName
	if p.OS == "windows" {
		extension, program = ".zip", pluginName+".exe"
	}
	return fmt.Sprintf("%s_v%s_%s_%s%s", pluginName, r.number, p.OS, p.Architecture, extension), program
}

// entry is a file in an archive.
type entry struct {
	name string
	mode os.FileMode
	time time.Time
	data []byte
}

func untar(t *testing.T, path string) []entry {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var entries []entry
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{header.Name, header.FileInfo().Mode(), header.ModTime, data})
	}
}

func unzip(t *testing.T, path string) []entry {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	var entries []entry
	for _, file := range r.File {
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{file.Name, file.Mode(), file.Modified, data})
	}
	return entries
}

func TestReleasedArchivesHaveTheProgramAndTheLicense(t *testing.T) {
	r := outcome(t)
	license := read(t, "LICENSE")
	for _, p := range pluginPlatforms {
		file, program := r.archive(p)
		open := untar
		if p.OS == "windows" {
			open = unzip
		}
		var found []string
		for _, e := range open(t, r.asset(file)) {
			found = append(found, e.mode.String()+" "+e.name)
			if !e.time.Equal(r.time) {
				t.Errorf("%s: %s has the time %s: want the commit's, %s", file, e.name, e.time, r.time)
			}
			if e.name == "LICENSE" {
				if string(e.data) != license {
					t.Errorf("%s has another license", file)
				}
				continue
			}
			built := filepath.Join(t.TempDir(), e.name)
			if err := os.WriteFile(built, e.data, 0o700); err != nil { //nolint:gosec // it is run
				t.Fatal(err)
			}
			if err := inspect(built, p); err != nil {
				t.Error(err)
			}
			r.assertSBOM(t, r.asset(file+".spdx.json"), built)
			r.assertVersion(t, p, built, "version")
		}
		slices.Sort(found)
		if diff := cmp.Diff([]string{"-rw-r--r-- LICENSE", "-rwxr-xr-x " + program}, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

func sha256File(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func TestReleasedKrewManifestNamesEachArchive(t *testing.T) {
	r := outcome(t)
	type platform struct {
		URI, SHA256, Bin string
		Selector         struct{ MatchLabels map[string]string }
	}
	var manifest struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		Spec             struct {
			Version, Homepage, ShortDescription, Description string
			Platforms                                        []platform
		}
	}
	text, err := os.ReadFile(r.asset("gpuinv.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &manifest); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	if manifest.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || manifest.Kind != "Plugin" || manifest.Metadata.Name != "gpuinv" {
		t.Errorf("%s %s %s", manifest.APIVersion, manifest.Kind, manifest.Metadata.Name)
	}
	spec := manifest.Spec
	if spec.Version != "v"+r.number || spec.Homepage != sourceURL || spec.ShortDescription == "" || spec.Description == "" {
		t.Errorf("version %q, home page %q, descriptions %q, %q", spec.Version, spec.Homepage, spec.ShortDescription, spec.Description)
	}
	var want []platform
	for _, p := range pluginPlatforms {
		file, program := r.archive(p)
		one := platform{URI: sourceURL + "/releases/download/v" + r.number + "/" + file, SHA256: sha256File(t, r.asset(file)), Bin: program}
		one.Selector.MatchLabels = map[string]string{"os": p.OS, "arch": p.Architecture}
		want = append(want, one)
	}
	slices.SortFunc(spec.Platforms, func(a, b platform) int { return strings.Compare(a.URI, b.URI) })
	if diff := cmp.Diff(want, spec.Platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func TestReleasedFilesAreListedInTheirChecksums(t *testing.T) {
	r := outcome(t)
	want := map[string]string{}
	for file := range files(t, r.asset("")) {
		file = strings.TrimPrefix(file, "/")
		if file != "checksums.txt" {
			want[file] = sha256File(t, r.asset(file))
		}
	}
	text, err := os.ReadFile(r.asset("checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		got[file] = sum
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("checksums.txt (-want +got):\n%s", diff)
	}
	if wantFiles := 2*len(pluginPlatforms) + len(imagePlatforms) + 1; len(want) != wantFiles { // archives and SBOMs, krew
		t.Errorf("%d files: want %d", len(want), wantFiles)
	}
}

// The archive of the chart has the files of the chart, but those that .helmignore names.
func TestReleasedChartIsTheChart(t *testing.T) {
	r := outcome(t)
	want := map[string]string{}
	for file, text := range files(t, "../../"+chartFolder+"/") {
		if file != ".helmignore" && !strings.HasPrefix(file, "ci/") && file != "README.md.gotmpl" && file != "Chart.yaml" {
			want[file] = text
		}
	}
	got := map[string]string{}
	for _, e := range untar(t, filepath.Join(r.work, "pulled", chartName+"-"+r.number+".tgz")) {
		if !e.time.Equal(r.time) {
			t.Errorf("%s has the time %s: want the commit's, %s", e.name, e.time, r.time)
		}
		file := strings.TrimPrefix(e.name, chartName+"/")
		if e.mode.IsRegular() {
			got[file] = string(e.data)
		}
	}
	var metadata struct{ Name, Version, AppVersion string }
	if err := yaml.Unmarshal([]byte(got["Chart.yaml"]), &metadata); err != nil {
		t.Fatal(err)
	}
	if metadata.Name != chartName || metadata.Version != r.number || metadata.AppVersion != r.number {
		t.Errorf("Chart.yaml has %+v: want version and appVersion %s", metadata, r.number)
	}
	delete(got, "Chart.yaml") // which helm writes anew
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-chart +archive):\n%s", diff)
	}
}
