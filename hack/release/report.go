package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
)

// row is one line of the closing table.
type row struct {
	what, digest string
	size         int64
	signature    string
	sbom         string
}

// printTable is what a person reads at the end. Digests are whole, since they are there to be compared.
func printTable(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := fmt.Fprintln(w, "WHAT\tDIGEST\tSIZE\tSIGNATURE\tSBOM"); err != nil {
		return err
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.what, r.digest, mib(r.size), cmp.Or(r.signature, "-"), cmp.Or(r.sbom, "-")); err != nil {
			return err
		}
	}
	return w.Flush()
}

// mib is a size as people read it.
func mib(n int64) string {
	switch {
	case n == 0:
		return "-"
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// appendOutputs tells a workflow's next steps what was made, in the form that they read.
func appendOutputs(path string, outputs map[string]string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if _, err := fmt.Fprintf(file, "%s=%s\n", name, outputs[name]); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return file.Close()
}
