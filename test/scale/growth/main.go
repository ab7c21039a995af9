// Command growth reads the output of go test -bench with sub-benchmarks named nodes=N, prints a table of it, and fails when
// what a node costs grows with the number of nodes: between 1,000 and 15,000 by more than 1.5 times in allocations or 4 times
// in time. Sorting and caches that no longer fit explain a factor of 2; what is quadratic shows as 15.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpu-inventory/gpu-inventory-operator/test/scale/document"
)

const (
	small, large    = 1_000, 15_000
	maxTimeGrowth   = 4.0
	maxAllocsGrowth = 1.5
	// fewAllocs are too few to compare: of a benchmark whose output is kept, say.
	fewAllocs = 64
)

func main() {
	out := flag.String("out", "", "Markdown file to write the table to; empty: none")
	flag.Parse()
	if err := run(os.Stdin, *out); err != nil {
		log.Fatal(err)
	}
}

func run(in io.Reader, out string) error {
	series, err := read(in)
	if err != nil {
		return err
	}
	if len(series) == 0 {
		return errors.New("no benchmark with nodes=N in the input")
	}
	table, err := judge(series)
	fmt.Print(table)
	if out != "" {
		err = errors.Join(err, document.Replace(out, "growth", table))
	}
	return err
}

// cost is what one operation takes.
type cost struct{ ns, bytes, allocs float64 }

// benchmark is one benchmark at several sizes.
type benchmark struct {
	name  string
	sizes map[int]cost
}

var line = regexp.MustCompile(`^Benchmark(\S*?)/nodes=(\d+)(\S*?)(?:-\d+)?\s+\d+\s+(.*)$`)

func read(in io.Reader) (out []benchmark, err error) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		m := line.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		name := m[1] + m[3]
		nodes, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", lines.Text(), err)
		}
		i := slices.IndexFunc(out, func(b benchmark) bool { return b.name == name })
		if i < 0 {
			i = len(out)
			out = append(out, benchmark{name, map[int]cost{}})
		}
		out[i].sizes[nodes] = costOf(m[4])
	}
	return out, lines.Err()
}

func costOf(fields string) (c cost) {
	f := strings.Fields(fields)
	for i := 0; i+1 < len(f); i += 2 {
		v, _ := strconv.ParseFloat(f[i], 64)
		switch f[i+1] {
		case "ns/op":
			c.ns = v
		case "B/op":
			c.bytes = v
		case "allocs/op":
			c.allocs = v
		}
	}
	return c
}

func judge(series []benchmark) (table string, err error) {
	var rows [][]string
	for _, b := range series {
		s, okSmall := b.sizes[small]
		l, okLarge := b.sizes[large]
		if !okSmall || !okLarge {
			err = errors.Join(err, fmt.Errorf("%s: not measured at %d and %d nodes", b.name, small, large))
			continue
		}
		inTime, inAllocs := perNode(l.ns, s.ns), perNode(l.allocs, s.allocs)
		if inTime > maxTimeGrowth {
			err = errors.Join(err, fmt.Errorf("%s: a node takes %.1f times as long at %d nodes as at %d, at most %.1f", b.name, inTime, large, small, maxTimeGrowth))
		}
		if l.allocs > fewAllocs && inAllocs > maxAllocsGrowth {
			err = errors.Join(err, fmt.Errorf("%s: a node takes %.1f times as many allocations at %d nodes as at %d, at most %.1f", b.name, inAllocs, large, small, maxAllocsGrowth))
		}
		row := []string{"`" + b.name + "`"}
		for _, size := range []int{100, small, 5_000, large} {
			c := b.sizes[size]
			row = append(row, fmt.Sprintf("%.3g ms, %.0f", c.ns/1e6, c.allocs))
		}
		rows = append(rows, append(row, fmt.Sprintf("%.2f, %.2f", inTime, inAllocs)))
	}
	return document.Table([]string{"time and allocations for", "100 nodes", "1,000", "5,000", "15,000", "growth per node: time, allocations"}, rows), err
}

// perNode is how many times as much a node costs in the large fleet.
func perNode(l, s float64) float64 {
	if s == 0 {
		return 0
	}
	return l / s * small / large
}
