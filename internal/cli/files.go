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
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

// stdinFile stands for standard input where a file name is expected.
const stdinFile = "-"

// companions are the kinds that belong to a snapshot of GPU nodes: beside a file with Nodes, a file may hold them alone.
var companions = map[string]bool{"Pod": true, "ResourceSlice": true, "ResourceClaim": true, "DeviceClass": true}

// readFiles adds what all files hold to the snapshot. The error names the file and the document.
func readFiles(names []string, stdin io.Reader, into *snapshot) error {
	s := &fileScan{into: into, seen: map[string]manifest.Place{}}
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
	into  *snapshot
	seen  map[string]manifest.Place // by kind, namespace and name
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
	for _, kind := range stats.EmptyLists {
		s.into.complete.Pods = s.into.complete.Pods || kind == kindPod
		s.into.complete.Claims = s.into.complete.Claims || isClaim(kind)
		_, name, _ := strings.Cut(kind, " ")
		file.kinds[name] += 0
	}
	s.files = append(s.files, file)
	return err
}

// object adds an object that counts to the snapshot and skips the rest.
func (s *fileScan) object(o manifest.Object) error {
	read := kinds[o.APIVersion+" "+o.Kind]
	if read == nil {
		return nil
	}
	return read(s, o)
}

// kinds read the objects that count, by apiVersion and kind.
var kinds = map[string]func(*fileScan, manifest.Object) error{
	"v1 Node":                               readNode,
	kindPod:                                 readPod,
	"resource.k8s.io/v1 ResourceSlice":      sliceFrom(func(in *resourcev1.ResourceSlice) resourcev1.ResourceSlice { return *in }),
	"resource.k8s.io/v1beta2 ResourceSlice": sliceFrom(dra.FromV1beta2),
	"resource.k8s.io/v1beta1 ResourceSlice": sliceFrom(dra.FromV1beta1),
	"resource.k8s.io/v1 ResourceClaim":      claimFrom(func(in *resourcev1.ResourceClaim) resourcev1.ResourceClaim { return *in }),
	"resource.k8s.io/v1beta2 ResourceClaim": claimFrom(holders.FromV1beta2),
	"resource.k8s.io/v1beta1 ResourceClaim": claimFrom(holders.FromV1beta1),
}

const kindPod = "v1 Pod"

func isClaim(kind string) bool {
	return strings.HasPrefix(kind, "resource.k8s.io/") && strings.HasSuffix(kind, " ResourceClaim")
}

func readNode(s *fileScan, o manifest.Object) error {
	node := new(corev1.Node)
	if err := s.decode(o, node); err != nil {
		return err
	}
	s.into.addNode(node)
	return nil
}

// readPod reads a Pod. Only one that holds something needs a name: a Pod that was never created may have none.
func readPod(s *fileScan, o manifest.Object) error {
	pod := new(corev1.Pod)
	if err := manifest.Decode(o, pod); err != nil {
		return err
	}
	// Without a phase it is a manifest that no server has seen, and does not show that Pods were read.
	s.into.complete.Pods = s.into.complete.Pods || pod.Status.Phase != ""
	if !s.into.addPod(pod) {
		return nil
	}
	return s.once(o, pod.Namespace)
}

func sliceFrom[T any](convert func(*T) resourcev1.ResourceSlice) func(*fileScan, manifest.Object) error {
	return func(s *fileScan, o manifest.Object) error {
		in := new(T)
		if err := s.decode(o, in); err != nil {
			return err
		}
		s.into.slices = append(s.into.slices, convert(in))
		return nil
	}
}

func claimFrom[T any](convert func(*T) resourcev1.ResourceClaim) func(*fileScan, manifest.Object) error {
	return func(s *fileScan, o manifest.Object) error {
		in := new(T)
		if err := manifest.Decode(o, in); err != nil {
			return err
		}
		s.into.complete.Claims = true
		claim := convert(in)
		if !s.into.addClaim(&claim) {
			return nil
		}
		return s.once(o, claim.Namespace)
	}
}

// decode decodes an object that counts and has no namespace.
func (s *fileScan) decode(o manifest.Object, into any) error {
	if err := s.once(o, ""); err != nil {
		return err
	}
	return manifest.Decode(o, into)
}

// once refuses an object that was read before: it would be counted twice.
func (s *fileScan) once(o manifest.Object, namespace string) error {
	if o.Name == "" {
		return fmt.Errorf("%s: a %s without metadata.name", o.Place, o.Kind)
	}
	name := o.Name
	if namespace != "" {
		name = namespace + "/" + name
	}
	id := o.Kind + "/" + name
	if first, twice := s.seen[id]; twice {
		return fmt.Errorf("%s: the %s %q is there twice, first in %s", o.Place, o.Kind, name, first)
	}
	s.seen[id] = o.Place
	return nil
}

func isNode(o manifest.Object) bool { return o.APIVersion == "v1" && o.Kind == "Node" }

// kindOf returns the name of a kind. A Node of another API gets its group, to tell it from a Kubernetes Node.
func kindOf(o manifest.Object) string {
	if o.Kind == "Node" {
		return o.APIVersion + " Node"
	}
	return o.Kind
}

// check refuses a file that has nothing to do with Nodes: the wrong file must not pass for a cluster without GPUs.
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

// found returns what the file holds, such as "2 Pod, 1 Service".
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
