package main

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-inventory/gpu-inventory-operator/test/scale/document"
)

const page = "../../docs/performance.md"

var update = flag.Bool("update", false, "draw the plot of docs/performance.md from its table")

func TestThePlotShowsTheTable(t *testing.T) {
	rows, err := document.Rows(page, "memory")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := drawMemory(page, rows); err != nil {
			t.Fatal(err)
		}
	}
	for name, theme := range map[string]document.Theme{"light": document.Light, "dark": document.Dark} {
		have, err := os.ReadFile("../../docs/images/memory-" + name + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(plot(theme, rows), string(have)); diff != "" {
			t.Errorf("memory-%s.svg is not drawn from the table; run go test ./test/scale -update (-want +have):\n%s", name, diff)
		}
	}
}

func TestAMeasuredSizeReplacesWhatTheTableHasOfIt(t *testing.T) {
	rows := [][]string{
		{ours, "10", "0", "33", ""},
		{ours, "5000", "100000", "61", "83"},
		{kubeStateMetrics, "5000", "100000", "3500", ""},
	}
	rows = withRow(rows, 500, 5_000, memory{now: 40, peak: 50})
	rows = withRow(rows, 10, 0, memory{now: 32.94, peak: 35})
	want := [][]string{
		{ours, "10", "0", "32.9", "35"},
		{ours, "500", "5000", "40", "50"},
		{ours, "5000", "100000", "61", "83"},
		{kubeStateMetrics, "5000", "100000", "3500", ""},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("withRow() (-want +got):\n%s", diff)
	}
}

func TestTheRunWritesEveryPartOfThePage(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/images", 0o700); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	out := dir + "/performance.md"
	if err := os.WriteFile(out, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r := report{few: memory{now: 30, peak: 31}}
	r.manager.rss = memory{now: 60, peak: 80}
	o := options{out: out, nodes: 5_000, pods: 100_000}
	if err := r.writeMemory(o); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"numbers", "scale"} {
		if err := document.Replace(out, name, r.numbers(o)); err != nil {
			t.Error(err)
		}
	}
}
