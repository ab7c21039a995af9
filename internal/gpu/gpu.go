package gpu

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// Input is what Read looks at: one Node and what DRA drivers published for it. Read never changes it.
type Input struct {
	// Node is the Node to read.
	Node *corev1.Node
	// Devices are the DRA devices of the Node, as dra.DevicesByNode returns them. Nil: none published, or not known.
	Devices *dra.Devices
}

// Options change what counts as a GPU.
type Options struct {
	// ExtraResources are extended resource names that count as GPUs of an unknown vendor, besides those that the package
	// knows. A name that ends in "*" is a prefix; a name that starts with "-" takes a name or prefix out again.
	ExtraResources []string
}

// Evidence is one thing that a source said about a node's GPUs.
type Evidence struct {
	// Kind is the kind of source.
	Kind EvidenceKind `json:"kind"`
	// Key is the label, annotation, resource, condition or device that said it.
	Key string `json:"key"`
	// Value is what it says literally, clipped to 1024 bytes.
	Value string `json:"value"`
	// Says is what that means, in words.
	Says string `json:"says"`
	// Decides names the fields of the row that it decided, sorted. Empty: it was seen, and something else won or
	// nothing needed it.
	Decides []string `json:"decides,omitempty"`
}

// Used reports whether a field of the row was decided by this evidence.
func (e Evidence) Used() bool { return len(e.Decides) > 0 }

// EvidenceKind is the kind of source that evidence comes from.
type EvidenceKind string

// Kinds of evidence.
const (
	KindSlice      EvidenceKind = "slice"
	KindLabel      EvidenceKind = "label"
	KindAnnotation EvidenceKind = "annotation"
	KindResource   EvidenceKind = "resource"
	KindCondition  EvidenceKind = "condition"
	KindNode       EvidenceKind = "node"
)

// Reading is what one Node says: a row of the inventory, and the evidence that it was decided from.
type Reading struct {
	// Row is the node's row. Allocated units, and what was known earlier, are for the caller to add.
	Row v1.GpuNode
	// Evidence is everything that was looked at, sorted by kind and key.
	Evidence []Evidence
}
