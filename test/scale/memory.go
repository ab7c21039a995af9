package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-inventory/gpu-inventory-operator/test/scale/document"
)

// The names of the programs in the table of memory.
const (
	ours             = "the operator"
	kubeStateMetrics = "kube-state-metrics"
)

var memoryHeader = []string{"program", "nodes", "pods", "at rest, MiB", "peak, MiB"}

// writeMemory puts what was measured into the table of memory, in place of what it has of the same sizes, and draws the plot anew.
func (r *report) writeMemory(o options) error {
	rows, err := document.Rows(o.out, "memory")
	if err != nil {
		return err
	}
	rows = withRow(rows, few, 0, r.few)
	rows = withRow(rows, o.nodes, o.pods, r.manager.rss)
	return errors.Join(document.Replace(o.out, "memory", document.Table(memoryHeader, rows)), drawMemory(o.out, rows))
}

// withRow returns the rows with what the operator took at a size, sorted by program and size. Others stay as they are.
func withRow(rows [][]string, nodes, pods int, m memory) [][]string {
	row := []string{ours, strconv.Itoa(nodes), strconv.Itoa(pods), amount(m.now, ""), amount(m.peak, "")}
	rows = slices.DeleteFunc(slices.Clone(rows), func(r []string) bool { return slices.Equal(r[:3], row[:3]) })
	rows = append(rows, row)
	slices.SortStableFunc(rows, func(a, b []string) int {
		if a[0] != b[0] {
			return -strings.Compare(a[0], b[0]) // the operator first
		}
		return int(parse(a[1]) - parse(b[1]))
	})
	return rows
}

// drawMemory draws the table of a page into docs/images beside it.
func drawMemory(page string, rows [][]string) error {
	var errs []error
	for name, theme := range map[string]document.Theme{"light": document.Light, "dark": document.Dark} {
		path := filepath.Join(filepath.Dir(page), "images", "memory-"+name+".svg")
		if err := os.WriteFile(path, []byte(plot(theme, rows)), 0o644); err != nil {
			errs = append(errs, fmt.Errorf("write plot: %w", err))
		}
	}
	return errors.Join(errs...)
}

func plot(theme document.Theme, rows [][]string) string {
	return document.Plot(theme, []document.Series{
		{Name: kubeStateMetrics, Note: "one size, one run", Class: "other", Points: points(rows, kubeStateMetrics, 3)},
		{Name: ours + ", peak", Class: "light", Points: points(rows, ours, 4)},
		{Name: ours + ", at rest", Class: "main", Points: points(rows, ours, 3)},
	})
}

// points returns the values of a column; an empty cell was not measured.
func points(rows [][]string, program string, column int) []document.Point {
	var out []document.Point
	for _, r := range rows {
		if r[0] == program && r[column] != "" {
			out = append(out, document.Point{X: parse(r[1]), Y: parse(r[column])})
		}
	}
	return out
}

// parse reads a number of the table; what is none counts as 0.
func parse(cell string) float64 {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return 0
	}
	return v
}
