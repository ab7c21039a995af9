package main

import (
	"fmt"
	"strings"
	"testing"
)

// measured is the output of a benchmark that takes so long, and so many allocations, at 1,000 and at 15,000 nodes.
func measured(name string, ns, allocs [2]int) string {
	var b strings.Builder
	for i, nodes := range []int{small, large} {
		fmt.Fprintf(&b, "Benchmark%s/nodes=%d/x-2 \t 100\t %d ns/op\t 10 B/op\t %d allocs/op\n", name, nodes, ns[i], allocs[i])
	}
	return b.String()
}

func TestGrowthIsJudgedByNode(t *testing.T) {
	cases := map[string]struct {
		input string
		want  string // part of the error; empty: none
	}{
		"linear":                             {input: measured("A", [2]int{1000, 15000}, [2]int{1000, 15000})},
		"n log n":                            {input: measured("A", [2]int{1000, 21000}, [2]int{1000, 15000})},
		"constant":                           {input: measured("A", [2]int{1000, 1000}, [2]int{0, 0})},
		"quadratic in time":                  {input: measured("A", [2]int{1000, 225000}, [2]int{1, 1}), want: "A/x: a node takes 15.0 times as long"},
		"twice the allocations":              {input: measured("A", [2]int{1000, 15000}, [2]int{1000, 30000}), want: "2.0 times as many allocations"},
		"few allocations":                    {input: measured("A", [2]int{1000, 15000}, [2]int{1, 40})},
		"one size":                           {input: "BenchmarkA/nodes=1000-2 10 5 ns/op\n", want: "not measured at 1000 and 15000"},
		"a benchmark that failed to compile": {input: "FAIL\n", want: "no benchmark"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := run(strings.NewReader(tc.input), "")
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("run() = %v, want %q", err, tc.want)
			}
		})
	}
}
