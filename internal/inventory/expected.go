package inventory

import (
	"fmt"
	"math"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// PoolState compares one pool of spec.expected with what was found. Equal states are ==, but for the targets of pointers.
type PoolState struct {
	// Name is the pool's name.
	Name string
	// Invalid says why the pool's selector cannot be used. Empty: it can. Otherwise nothing but the name is set.
	Invalid string

	// ExpectedNodes is how many GPU nodes are declared, FoundNodes how many there are, ready or not.
	ExpectedNodes, FoundNodes int32
	// UnsureNodes is how many more there are whose product is not known, so that they may be the pool's.
	UnsureNodes int32
	// MissingNodes is how many are missing even if the unsure ones are the pool's.
	MissingNodes int32

	// ExpectedGpus is how many physical GPUs are declared. Nil: only nodes are.
	ExpectedGpus *int32
	// FoundGpus is the sum of the counts known of the nodes found, last-known ones included. Nil: none is known of those that
	// are, or may be, the pool's.
	FoundGpus *int32
	// UncountedNodes is how many of the nodes found have a count that is not known.
	UncountedNodes int32
	// MissingGpus is how many GPUs are missing for certain: those of missing nodes, and those by which a node falls short of
	// gpusPerNode. Nil: none are declared, or it is not known whether any is missing.
	MissingGpus *int32
	// Deviating names nodes with another count than declared, such as "gpu-3 has 7". Empty: none is known.
	Deviating string
}

// Expect compares the declared pools with rows, which must be all rows of the inventory. labelsOf gives the labels of a
// Node. A node may be in several pools.
func Expect(pools []v1.ExpectedPool, rows []v1.GpuNode, labelsOf func(node string) map[string]string) []PoolState {
	out := make([]PoolState, 0, len(pools))
	for i := range pools {
		out = append(out, expect(&pools[i], rows, labelsOf))
	}
	return orNil(out)
}

func expect(pool *v1.ExpectedPool, rows []v1.GpuNode, labelsOf func(string) map[string]string) PoolState {
	selector, err := Selector(pool.NodeSelector)
	if err != nil {
		return PoolState{Name: pool.Name, Invalid: err.Error()}
	}
	t := poolTally{PoolState: PoolState{Name: pool.Name, ExpectedNodes: pool.Nodes}}
	for i := range rows {
		if selector.Matches(labels.Set(labelsOf(rows[i].Name))) {
			t.add(pool, &rows[i])
		}
	}
	return t.state(pool)
}

// poolTally adds up the selected nodes of a pool.
type poolTally struct {
	PoolState
	gpus      sum
	short     int64 // GPUs by which nodes fall short
	deviating []string
}

func (t *poolTally) add(pool *v1.ExpectedPool, n *v1.GpuNode) {
	count, member := poolGpus(n, pool.Product)
	switch member {
	case no:
		return
	case unsure:
		t.UnsureNodes++
		return
	}
	t.FoundNodes++
	t.gpus.add(count)
	switch {
	case count == nil:
		t.UncountedNodes++
	case pool.GpusPerNode != nil && *count != *pool.GpusPerNode:
		t.short += int64(max(*pool.GpusPerNode-*count, 0))
		t.deviating = append(t.deviating, fmt.Sprintf("%s has %d", n.Name, *count))
	}
}

func (t *poolTally) state(pool *v1.ExpectedPool) PoolState {
	s := t.PoolState
	if s.FoundNodes > 0 || s.UnsureNodes == 0 {
		s.FoundGpus = t.gpus.value()
	}
	s.MissingNodes = max(s.ExpectedNodes-s.FoundNodes-s.UnsureNodes, 0)
	s.Deviating = first(t.deviating)
	if pool.GpusPerNode != nil {
		perNode := int64(*pool.GpusPerNode)
		s.ExpectedGpus = new(int32(min(int64(pool.Nodes)*perNode, math.MaxInt32)))
		missing := int32(min(int64(s.MissingNodes)*perNode+t.short, math.MaxInt32))
		if missing > 0 || !s.uncertain() {
			s.MissingGpus = &missing
		}
	}
	return s
}

// membership says whether a selected node belongs to a pool.
type membership int

const (
	no membership = iota
	unsure
	yes
)

// poolGpus counts a node's GPUs of a product; an empty product is any. The count is nil when it is not known.
func poolGpus(n *v1.GpuNode, product string) (count *int32, member membership) {
	if product == "" {
		return n.GpuCount, yes
	}
	var found []v1.GpuGroup
	for _, g := range n.Gpus {
		switch {
		case g.Product == "":
			member = max(member, unsure)
		case SameProduct(g.Product, baseProduct(product)):
			found, member = append(found, g), yes
		}
	}
	if len(n.Gpus) == 0 {
		member = unsure
	}
	return TotalCount(found), member
}

// baseProduct takes off the suffixes that people copy from labels.
func baseProduct(s string) string {
	s = strings.TrimSuffix(s, "-SHARED")
	if i := strings.LastIndex(s, "-MIG-"); i > 0 {
		s = s[:i]
	}
	return s
}

// Selector makes a label selector of a NodeSelector. Nil or empty selects every Node; an error says what cannot be used.
func Selector(s *v1.NodeSelector) (labels.Selector, error) {
	if s == nil {
		return labels.Everything(), nil
	}
	generic := &metav1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, r := range s.MatchExpressions {
		generic.MatchExpressions = append(generic.MatchExpressions, metav1.LabelSelectorRequirement(r))
	}
	selector, err := metav1.LabelSelectorAsSelector(generic)
	if err != nil {
		return nil, fmt.Errorf("parse node selector: %w", err)
	}
	return selector, nil
}

// uncertain reports whether what is not known may make a difference.
func (s *PoolState) uncertain() bool {
	return s.UnsureNodes > 0 || s.ExpectedGpus != nil && s.UncountedNodes > 0
}

// missed reports whether what is known suffices to say that the pool is not as declared. More than declared is not.
func (s *PoolState) missed() bool {
	return s.MissingNodes > 0 || s.FoundNodes > s.ExpectedNodes || s.Deviating != ""
}

// String is the pool in a message, such as "h100-pool: 3 of 4 nodes, 24 of 32 GPUs".
func (s *PoolState) String() string {
	if s.Invalid != "" {
		return fmt.Sprintf("%s: its nodeSelector cannot be used: %s", s.Name, s.Invalid)
	}
	text := fmt.Sprintf("%s: %d of %s", s.Name, s.FoundNodes, plural(int(s.ExpectedNodes), "node"))
	if s.UnsureNodes > 0 {
		text += fmt.Sprintf(", product unknown on %s", plural(int(s.UnsureNodes), "more node"))
	}
	if s.ExpectedGpus != nil {
		text += s.gpusText()
	}
	if s.FoundNodes > s.ExpectedNodes {
		text += ": more than declared"
	}
	if s.Deviating != "" {
		text += ": " + s.Deviating
	}
	return text
}

func (s *PoolState) gpusText() string {
	known := "an unknown number"
	switch {
	case s.FoundGpus != nil && s.uncertain():
		known = fmt.Sprintf("at least %d", *s.FoundGpus)
	case s.FoundGpus != nil:
		known = fmt.Sprint(*s.FoundGpus)
	}
	text := fmt.Sprintf(", %s of %s", known, plural(int(*s.ExpectedGpus), "GPU"))
	if s.UncountedNodes > 0 {
		text += ", count unknown on " + plural(int(s.UncountedNodes), "node")
	}
	return text
}
