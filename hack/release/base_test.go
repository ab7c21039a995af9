package release

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

var update = flag.Bool("update", false, "write the folder base anew")

const imageUser = "65532:65532"

var imagePlatforms = []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}

// writeBase writes the base of our image, as an OCI layout: for each platform an image without any layer.
func writeBase(t *testing.T, dir string) {
	t.Helper()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range imagePlatforms {
		img, err := mutate.ConfigFile(
			mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
			&v1.ConfigFile{
				OS: p.OS, Architecture: p.Architecture, RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{}},
				Config: v1.Config{User: imageUser, WorkingDir: "/"},
			})
		if err != nil {
			t.Fatal(err)
		}
		if err := path.AppendImage(img); err != nil { // ko looks for it at the top of the layout
			t.Fatal(err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &p}})
	}
	if err := path.AppendIndex(index); err != nil {
		t.Fatal(err)
	}
}

// files are the contents of a folder, by path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Clean(path))
		found[strings.TrimPrefix(path, dir)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Nobody needs to believe the JSON in the folder base: it is what this test makes.
func TestTheBaseHasAUserAndNoFiles(t *testing.T) {
	want := t.TempDir()
	writeBase(t, want)
	if *update {
		if err := os.RemoveAll("base"); err != nil {
			t.Fatal(err)
		}
		writeBase(t, "base")
	}
	if diff := cmp.Diff(files(t, want), files(t, "base")); diff != "" {
		t.Errorf("hack/release/base; -update writes it (-want +got):\n%s", diff)
	}
}

func TestKoBuildsOnTheBase(t *testing.T) {
	path, err := layout.FromPath("base")
	if err != nil {
		t.Fatal(err)
	}
	top, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	base := manifest.Manifests[len(manifest.Manifests)-1] // the index of all platforms
	if want := "\ndefaultBaseImage: scratch@" + base.Digest.String() + "\n"; !strings.Contains(read(t, ".ko.yaml"), want) {
		t.Errorf(".ko.yaml lacks %q", want)
	}
}
