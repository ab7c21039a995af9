package inventory

import (
	"fmt"
	"math"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// PoolState compares the GPUs of one pool of spec.expected with those that were found. The condition AsExpected says the rest.
type PoolState struct {
	// Name is the pool's name.
	Name string
	// ExpectedGpus is how many physical GPUs are declared. Nil: only nodes are, or the pool's selector cannot be used.
	ExpectedGpus *int32
	// MissingGpus is how many GPUs are missing for certain: those of missing nodes, and those by which a node falls short of
	// gpusPerNode. Nil: none are declared, or it is not known whether any is missing.
	MissingGpus *int32
}

// comparison compares one pool of spec.expected with what was found. Only the pool is set when its selector cannot be used.
type comparison struct {
	pool    *v1.ExpectedPool
	invalid error // why the pool's selector cannot be used

	found     int32    // GPU nodes of the pool, ready or not
	unsure    int32    // nodes more whose product is not known, so that they may be the pool's
	uncounted int32    // nodes found of which the count is not known
	gpus      sum      // of the counts of the nodes found, last-known ones included
	short     int64    // GPUs by which nodes fall short of the declared number
	deviating []string // nodes with another count than declared, such as "gpu-3 has 7"
}

// comparePools compares the declared pools with rows, which must be all rows of the inventory. labelsOf returns the labels of a
// Node. A node may be in several pools.
func comparePools(pools []v1.ExpectedPool, rows []v1.GpuNode, labelsOf func(node string) map[string]string) []comparison {
	out := make([]comparison, 0, len(pools))
	for i := range pools {
		out = append(out, comparePool(&pools[i], rows, labelsOf))
	}
	return out
}

func comparePool(pool *v1.ExpectedPool, rows []v1.GpuNode, labelsOf func(node string) map[string]string) comparison {
	selector, err := Selector(pool.NodeSelector)
	if err != nil {
		return comparison{pool: pool, invalid: err}
	}
	c := comparison{pool: pool}
	for i := range rows {
		if selector.Matches(labels.Set(labelsOf(rows[i].Name))) {
			c.add(&rows[i])
		}
	}
	return c
}

// add adds a node that the pool selects.
func (c *comparison) add(n *v1.GpuNode) {
	count, member := poolGpus(n, c.pool.Product)
	switch member {
	case no:
		return
	case unsure:
		c.unsure++
		return
	}
	c.found++
	c.gpus.add(count)
	switch perNode := c.pool.GpusPerNode; {
	case count == nil:
		c.uncounted++
	case perNode != nil && *count != *perNode:
		c.short += int64(max(*perNode-*count, 0))
		c.deviating = append(c.deviating, fmt.Sprintf("%s has %d", n.Name, *count))
	}
}

// missingNodes returns how many nodes are missing even if the unsure ones are the pool's.
func (c *comparison) missingNodes() int32 { return max(c.pool.Nodes-c.found-c.unsure, 0) }

// foundGpus returns how many GPUs are known. Nil: none is known of the nodes that are, or may be, the pool's.
func (c *comparison) foundGpus() *int32 {
	if c.found == 0 && c.unsure > 0 {
		return nil
	}
	return c.gpus.value()
}

func (c *comparison) state() PoolState {
	s := PoolState{Name: c.pool.Name}
	if c.pool.GpusPerNode == nil || c.invalid != nil {
		return s
	}
	perNode := int64(*c.pool.GpusPerNode)
	s.ExpectedGpus = new(int32(min(int64(c.pool.Nodes)*perNode, math.MaxInt32)))
	missing := int32(min(int64(c.missingNodes())*perNode+c.short, math.MaxInt32))
	if missing > 0 || !c.uncertain() {
		s.MissingGpus = &missing
	}
	return s
}

// uncertain reports whether what is not known may make a difference.
func (c *comparison) uncertain() bool {
	return c.unsure > 0 || c.pool.GpusPerNode != nil && c.uncounted > 0
}

// missed reports whether what is known suffices to say that the pool is not as declared. More GPUs than declared are not
// enough for that.
func (c *comparison) missed() bool {
	return c.missingNodes() > 0 || c.found > c.pool.Nodes || len(c.deviating) > 0
}

// String returns the pool as it is in a message, such as "h100-pool: 3 of 4 nodes, 24 of 32 GPUs".
func (c *comparison) String() string {
	if c.invalid != nil {
		return fmt.Sprintf("%s: its nodeSelector cannot be used: %v", c.pool.Name, c.invalid)
	}
	text := fmt.Sprintf("%s: %d of %s", c.pool.Name, c.found, plural(int(c.pool.Nodes), "node"))
	if c.unsure > 0 {
		text += fmt.Sprintf(", product unknown on %s", plural(int(c.unsure), "more node"))
	}
	if expected := c.state().ExpectedGpus; expected != nil {
		text += fmt.Sprintf(", %s of %s", c.foundText(), plural(int(*expected), "GPU"))
		if c.uncounted > 0 {
			text += ", count unknown on " + plural(int(c.uncounted), "node")
		}
	}
	if c.found > c.pool.Nodes {
		text += ": more than declared"
	}
	if len(c.deviating) > 0 {
		text += ": " + firstFew(c.deviating)
	}
	return text
}

func (c *comparison) foundText() string {
	switch n := c.foundGpus(); {
	case n == nil:
		return "an unknown number"
	case c.uncertain():
		return fmt.Sprintf("at least %d", *n)
	default:
		return fmt.Sprint(*n)
	}
}

// membership says whether a selected node belongs to a pool.
type membership int

const (
	no membership = iota
	unsure
	yes
)

// poolGpus returns a node's number of GPUs of a product; an empty product is any. It is nil when it is not known.
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

// baseProduct removes the suffixes that people copy from labels.
func baseProduct(s string) string {
	s = strings.TrimSuffix(s, "-SHARED")
	if i := strings.LastIndex(s, "-MIG-"); i > 0 {
		s = s[:i]
	}
	return s
}

// Selector returns the label selector of a NodeSelector. Nil or empty selects every Node; an error says what cannot be used.
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
