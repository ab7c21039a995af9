// Package gputest reads the corpus of GPU nodes for tests, and compares rows of an inventory with its right answers. Every
// test that judges answers shares it, so that all of them spell and accept the same.
package gputest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Case is one file of the corpus.
type Case struct {
	// Name is the file's name without its ending; Path is the file.
	Name, Path string
	// Text is what is in the file.
	Text []byte
	// Expected is the best value of each field. Accepted has further values that are right too.
	Expected map[string]string
	Accepted map[string][]string
}

// Documents are the YAML documents of the file.
func (c Case) Documents() [][]byte { return bytes.Split(c.Text, []byte("\n---\n")) }

// Corpus reads every case in a folder, sorted by name.
func Corpus(t testing.TB, folder string) []Case {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []Case
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := Case{Name: strings.TrimSuffix(filepath.Base(file), ".yaml"), Path: file, Text: text}
		c.readAnswers()
		cases = append(cases, c)
	}
	return cases
}

// readAnswers reads the header lines of a case.
func (c *Case) readAnswers() {
	c.Expected, c.Accepted = map[string]string{}, map[string][]string{}
	for line := range strings.SplitSeq(string(c.Text), "\n") {
		if rest, ok := strings.CutPrefix(line, "# expect: "); ok {
			field, value, _ := strings.Cut(rest, "=")
			c.Expected[field] = value
		}
		if rest, ok := strings.CutPrefix(line, "# accept: "); ok {
			field, value, _ := strings.Cut(rest, "=")
			c.Accepted[field] = append(c.Accepted[field], value)
		}
	}
}

// Judge compares answers with the right ones, field by field, and reports each that is wrong. Fields of the corpus that
// are in neither answers nor elsewhere are errors, so that none is forgotten. A Node that is taken for no GPU node is
// judged by that alone.
func (c Case) Judge(t testing.TB, answers map[string]string, elsewhere ...string) {
	t.Helper()
	for _, field := range slices.Sorted(maps.Keys(c.Expected)) {
		value, known := answers[field]
		switch want := append([]string{c.Expected[field]}, c.Accepted[field]...); {
		case answers[fieldIsGPUNode] == "false" && field != fieldIsGPUNode, slices.Contains(elsewhere, field):
		case !known:
			t.Errorf("the corpus has a field %q that this test does not know", field)
		case !accepts(field, want, value):
			t.Errorf("%s = %q, want one of %q", field, value, want)
		}
	}
}

// Fields of the corpus that a row does not answer.
const (
	FieldUsed        = "usedUnits"
	FieldFree        = "freeUnits"
	FieldReplicas    = "replicas"    // the API has no such field: the units of a GPU
	FieldMIGStrategy = "migStrategy" // nor this: how the device plugin names MIG instances
)

const fieldIsGPUNode = "isGpuNode"

// reasonTokens maps the corpus' words for reasons, which are suggestions, to those of the API.
//
//   - Cordoned is a fact of scheduling here, so such a node is OK and has the warning Cordoned.
//   - NoGpuEvidence and NotAGpuNode are said of nodes that are no GPU nodes, and once of a node that only an administrator's
//     label speaks for: nothing is registered there, which is what DevicePluginNotRegistered says.
var reasonTokens = map[string]v1.Reason{
	"Cordoned":      v1.ReasonOK,
	"NoGpuEvidence": v1.ReasonDevicePluginNotRegistered,
}

// accepts reports whether a value is among the accepted ones, in the corpus' spelling.
func accepts(field string, accepted []string, value string) bool {
	for _, a := range accepted {
		switch field {
		case "reason":
			if r, ok := reasonTokens[a]; ok {
				a = string(r)
			}
		case "allocatableUnits", FieldUsed, FieldFree, "vendor":
			a = sortList(a)
		case "warning":
			if a == "none" || slices.Contains(strings.Split(value, ","), a) {
				return true
			}
		}
		if a == value {
			return true
		}
	}
	return false
}

// NoGPUNode are the answers about a Node that has no row.
func NoGPUNode() map[string]string { return map[string]string{fieldIsGPUNode: "false"} }

// Answers spells a row as the corpus does. Where a node has several vendors, the corpus' single answers are about the one
// that it names first.
func (c Case) Answers(row v1.GpuNode) map[string]string {
	first, _, several := strings.Cut(c.Expected["vendor"], ",")
	groups := slices.DeleteFunc(slices.Clone(row.Gpus), func(g v1.GpuGroup) bool { return several && string(g.Vendor) != first })
	var vendors []string
	for _, g := range row.Gpus {
		if !slices.Contains(vendors, string(g.Vendor)) {
			vendors = append(vendors, string(g.Vendor))
		}
	}
	var warnings []string
	for _, w := range row.Warnings {
		warnings = append(warnings, string(w))
	}
	return map[string]string{
		fieldIsGPUNode:     "true",
		"vendor":           sortList(strings.Join(vendors, ",")),
		"product":          each(groups, func(g v1.GpuGroup) string { return word(g.Product, "unknown") }),
		"variant":          each(groups, func(g v1.GpuGroup) string { return word(g.Variant, "none") }),
		"physicalGpus":     number(row.GpuCount),
		"allocatableUnits": units(row.Resources, allocatable),
		"memoryMiB":        each(groups, func(g v1.GpuGroup) string { return number(g.MemoryMiB) }),
		"memoryPerUnitMiB": each(groups, func(g v1.GpuGroup) string { return number(g.MemoryPerUnitMiB) }),
		"sharing":          word(string(row.Sharing), "unknown"),
		"workloadMode":     word(string(row.WorkloadMode), "unknown"),
		"ready":            strconv.FormatBool(row.Ready),
		"reason":           string(row.Reason),
		"warning":          word(strings.Join(warnings, ","), "none"),
		"schedulable":      strconv.FormatBool(!row.Unschedulable),
	}
}

// Used spells what is held of a row's resources. One of which that is not known is left out.
func Used(row v1.GpuNode) string {
	return units(row.Resources, func(r v1.NodeResource) (string, *int64) { return r.Name, r.Allocated })
}

// Free spells what is free of the resources of a fleet. One of which that is not known is left out.
func Free(s v1.GpuInventoryStatus) string {
	return units(s.Resources, func(r v1.ResourceSummary) (string, *int64) { return r.Name, r.Free })
}

// units spells numbers of units by resource name; nil is left out.
func units[R any](resources []R, of func(R) (string, *int64)) string {
	var out []string
	for _, r := range resources {
		if name, n := of(r); n != nil {
			out = append(out, fmt.Sprintf("%s:%d", name, *n))
		}
	}
	return sortList(word(strings.Join(out, ","), "none"))
}

// allocatable is the number of units that can be allocated; nil: none.
func allocatable(r v1.NodeResource) (string, *int64) {
	if r.Allocatable == 0 {
		return r.Name, nil
	}
	return r.Name, &r.Allocatable
}

func sortList(s string) string {
	parts := strings.Split(s, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

func each(groups []v1.GpuGroup, say func(v1.GpuGroup) string) string {
	var out []string
	for _, g := range groups {
		if s := say(g); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

func word(s, absent string) string {
	if s == "" {
		return absent
	}
	return s
}

func number[N int32 | int64](n *N) string {
	if n == nil {
		return "unknown"
	}
	return strconv.FormatInt(int64(*n), 10)
}
