package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/cli/manifest"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// stdinFile stands for standard input where a file name is expected.
const stdinFile = "-"

// companions are the kinds that belong to a snapshot of GPU nodes: beside a file with Nodes, a file may hold them alone.
var companions = map[string]bool{"Pod": true, "ResourceSlice": true, "ResourceClaim": true, "DeviceClass": true}

// readFiles adds what all files hold to the fleet. The error names the file and the document.
func readFiles(names []string, stdin io.Reader, into *fleet) error {
	s := &fileScan{fleet: into, seen: map[string]manifest.Place{}}
	for i, name := range names {
		if name == stdinFile && slices.Contains(names[:i], stdinFile) {
			return errors.New("standard input can be read only once: -f - is given twice")
		}
		if err := s.read(name, stdin); err != nil {
			return err
		}
	}
	return s.check()
}

// fileScan reads files one after the other.
type fileScan struct {
	fleet *fleet
	seen  map[string]manifest.Place // by kind and name
	files []fileSummary
}

// fileSummary is what one file holds.
type fileSummary struct {
	name      string
	kinds     map[string]int // objects by kind, Nodes left out
	nodes     int
	emptyList bool
}

func (s *fileScan) read(name string, stdin io.Reader) error {
	text := stdin
	if name == stdinFile {
		name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return err // "open nodes.yaml: no such file or directory"
		}
		defer func() { _ = f.Close() }() // only read from
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return fmt.Errorf("%s: is a directory: name the files in it", name)
		}
		text = f
	}
	file := fileSummary{name: name, kinds: map[string]int{}}
	stats, err := manifest.Each(name, text, func(o manifest.Object) error {
		if isNode(o) {
			file.nodes++
		} else {
			file.kinds[kindOf(o)]++
		}
		return s.object(o)
	})
	file.emptyList = stats.EmptyList
	s.files = append(s.files, file)
	return err
}

// object adds what counts to the fleet and skips the rest.
func (s *fileScan) object(o manifest.Object) error {
	toSlice := sliceVersions[o.APIVersion]
	switch {
	case isNode(o):
		node := new(corev1.Node)
		if err := s.decode(o, node); err != nil {
			return err
		}
		s.fleet.addNode(node)
	case o.Kind == "ResourceSlice" && toSlice != nil:
		slice, err := toSlice(s, o)
		if err != nil {
			return err
		}
		s.fleet.slices = append(s.fleet.slices, slice)
	}
	return nil
}

// sliceVersions read a ResourceSlice, by its apiVersion.
var sliceVersions = map[string]func(*fileScan, manifest.Object) (resourcev1.ResourceSlice, error){
	"resource.k8s.io/v1":      sliceFrom(func(in *resourcev1.ResourceSlice) resourcev1.ResourceSlice { return *in }),
	"resource.k8s.io/v1beta2": sliceFrom(gpu.FromV1beta2),
	"resource.k8s.io/v1beta1": sliceFrom(gpu.FromV1beta1),
}

func sliceFrom[T any](convert func(*T) resourcev1.ResourceSlice) func(*fileScan, manifest.Object) (resourcev1.ResourceSlice, error) {
	return func(s *fileScan, o manifest.Object) (resourcev1.ResourceSlice, error) {
		in := new(T)
		if err := s.decode(o, in); err != nil {
			return resourcev1.ResourceSlice{}, err
		}
		return convert(in), nil
	}
}

// decode decodes an object that counts. Two of the same name would be counted twice.
func (s *fileScan) decode(o manifest.Object, into any) error {
	if o.Name == "" {
		return fmt.Errorf("%s: a %s without metadata.name", o.Place, o.Kind)
	}
	id := o.Kind + "/" + o.Name
	if first, twice := s.seen[id]; twice {
		return fmt.Errorf("%s: the %s %q is there twice, first in %s", o.Place, o.Kind, o.Name, first)
	}
	s.seen[id] = o.Place
	return manifest.Decode(o, into)
}

func isNode(o manifest.Object) bool { return o.APIVersion == "v1" && o.Kind == "Node" }

// kindOf names a kind; a Node that is not Kubernetes' own needs its group to tell it.
func kindOf(o manifest.Object) string {
	if o.Kind == "Node" {
		return o.APIVersion + " Node"
	}
	return o.Kind
}

// check says which file has nothing to do with Nodes: a wrong file would otherwise pass for a cluster without GPUs.
func (s *fileScan) check() error {
	nodes := slices.ContainsFunc(s.files, fileSummary.hasNodes)
	for _, f := range s.files {
		if !f.hasNodes() && (!nodes || !f.onlyCompanions()) {
			return fmt.Errorf("%s: no Node in it, but %s; %s", f.name, f.found(), manifest.Expected)
		}
	}
	return nil
}

// hasNodes reports whether the file holds Nodes, or says that there are none.
func (f fileSummary) hasNodes() bool { return f.nodes > 0 || f.emptyList }

func (f fileSummary) onlyCompanions() bool {
	for kind := range f.kinds {
		if !companions[kind] {
			return false
		}
	}
	return len(f.kinds) > 0
}

// found lists what the file holds, such as "2 Pod, 1 Service".
func (f fileSummary) found() string {
	const named = 5
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(f.kinds)) {
		if len(parts) == named {
			return fmt.Sprintf("%s and %d more kinds", strings.Join(parts, ", "), len(f.kinds)-named)
		}
		parts = append(parts, fmt.Sprintf("%d %s", f.kinds[kind], kind))
	}
	if len(parts) == 0 {
		return "no Kubernetes object at all"
	}
	return strings.Join(parts, ", ")
}
