package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRowsAreJudged(t *testing.T) {
	cases := map[string]struct {
		row       row
		within    [2]string // at the full size, at another
		wantError string    // part of the error; empty: none
	}{
		"an absolute budget that is kept":     {row: row{measured: 3, budget: 3}, within: [2]string{"yes", ""}},
		"an absolute budget that is not":      {row: row{measured: 4, budget: 3}, within: [2]string{"**no**", ""}},
		"a count that is kept":                {row: row{measured: 0, budget: 0, always: true}, within: [2]string{"yes", "yes"}},
		"a count that is not":                 {row: row{measured: 1, budget: 0, always: true}, within: [2]string{"**no**", "**no**"}, wantError: "want at most 0"},
		"no budget":                           {row: row{measured: 9, budget: unlimited}},
		"a ratio that is kept":                {row: row{measured: 4, budget: unlimited, floor: 2, factor: 2, fails: 3}, within: [2]string{"yes", ""}},
		"a ratio above the budget":            {row: row{measured: 5, budget: unlimited, floor: 2, factor: 2, fails: 3}, within: [2]string{"**no**", ""}},
		"a ratio that must not be":            {row: row{measured: 7, budget: unlimited, floor: 2, factor: 2, fails: 3}, within: [2]string{"**no**", ""}, wantError: "3.50 times the floor's"},
		"a budget kept, and a ratio exceeded": {row: row{measured: 5, budget: 9, floor: 2, factor: 2}, within: [2]string{"**no**", ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for i, full := range []bool{true, false} {
				cells := tc.row.cells(full)
				if got := cells[len(cells)-1]; got != tc.within[i] {
					t.Errorf("cells(%v) say %q, want %q", full, got, tc.within[i])
				}
			}
			err := tc.row.check()
			if tc.wantError == "" && err != nil || tc.wantError != "" && (err == nil || !strings.Contains(err.Error(), tc.wantError)) {
				t.Errorf("check() = %v, want %q", err, tc.wantError)
			}
		})
	}
}

func TestAmountsHaveThreeDigits(t *testing.T) {
	cases := map[float64]string{0: "0 ms", 1: "1 ms", 1.234: "1.23 ms", 12.34: "12.3 ms", 123.4: "123 ms"}
	for v, want := range cases {
		if got := amount(v, "ms"); got != want {
			t.Errorf("amount(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	of := []time.Duration{5, 1, 4, 2, 3}
	got := []time.Duration{quantile(of, 0), quantile(of, 0.5), quantile(of, 0.99), quantile(of, 1), quantile(nil, 0.5)}
	if diff := cmp.Diff([]time.Duration{1, 3, 5, 5, 0}, got); diff != "" {
		t.Errorf("quantile() (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]time.Duration{5, 1, 4, 2, 3}, of); diff != "" {
		t.Errorf("quantile() sorted its argument (-want +got):\n%s", diff)
	}
}

func TestRequestsAreCountedSinceABeginning(t *testing.T) {
	before := requests{"APPLY gpuinventories/status": 3, "GET nodes": 1}
	after := requests{"APPLY gpuinventories/status": 5, "GET nodes": 1, "APPLY configmaps": 2, "POST events": 1, "PATCH events": 1, "LIST pods": 4}
	since := after.since(before)
	got := []int{since.statusWrites(), since.configMapWrites(), since.events(), since.reads()}
	if diff := cmp.Diff([]int{2, 2, 2, 4}, got); diff != "" {
		t.Errorf("status writes, ConfigMap writes, Events, reads (-want +got):\n%s", diff)
	}
}
