package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// format is how an inventory is printed.
type format string

const (
	formatTable format = "table"
	formatJSON  format = "json"
	formatYAML  format = "yaml"
)

func (f *format) register(flags *pflag.FlagSet) {
	flags.VarP(f, "output", "o", "output `FORMAT`: table, json or yaml")
}

// String implements pflag.Value.
func (f *format) String() string { return string(*f) }

// Type implements pflag.Value.
func (f *format) Type() string { return "format" }

// Set implements pflag.Value.
func (f *format) Set(s string) error {
	switch v := format(s); v {
	case formatTable, formatJSON, formatYAML:
		*f = v
		return nil
	default:
		return fmt.Errorf("must be %s, %s or %s", formatTable, formatJSON, formatYAML)
	}
}

// print writes the inventory.
func (f *format) print(w io.Writer, inv *v1.GpuInventory, options tableOptions) error {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(inv)
	if err != nil {
		return failure{fmt.Errorf("encode the inventory: %w", err)}
	}
	dropEmptyTimes(object)
	return f.write(w, "inventory", object, func(out *bytes.Buffer) {
		options.fit(w)
		writeTable(out, inv, options)
	})
}

// printExplanation writes what why found out.
func (f *format) printExplanation(io streams, name string, e explanation) error {
	if *f != formatTable {
		if err := printNotes(io.err, e.notes); err != nil {
			return err
		}
	}
	return f.write(io.out, "explanation", e, func(out *bytes.Buffer) {
		var options tableOptions
		options.fit(io.out)
		writeExplanation(out, name, e, options)
	})
}

// write prints an object, with an indent of four as kubectl does, or a table. Nothing is written when it cannot be encoded.
func (f *format) write(w io.Writer, what string, object any, table func(*bytes.Buffer)) error {
	var out bytes.Buffer
	if *f == formatTable {
		table(&out)
	} else {
		text, err := json.MarshalIndent(object, "", "    ")
		if err == nil && *f == formatYAML {
			text, err = yaml.JSONToYAML(text)
		}
		if err != nil {
			return failure{fmt.Errorf("encode the %s: %w", what, err)}
		}
		out.Write(append(bytes.TrimSpace(text), '\n'))
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return failure{fmt.Errorf("write the %s: %w", what, err)}
	}
	return nil
}

// printNotes writes what could not be read.
func printNotes(w io.Writer, notes []string) error {
	for _, note := range notes {
		if _, err := fmt.Fprintf(w, "note: %s\n", printable(note)); err != nil {
			return failure{fmt.Errorf("write a note: %w", err)}
		}
	}
	return nil
}

// dropEmptyTimes removes the times of conditions that nobody has written: the Go type prints an unset time as null, which
// the API server would refuse.
func dropEmptyTimes(object map[string]any) {
	const time = "lastTransitionTime"
	status, _ := object["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c[time] == nil {
			delete(c, time)
		}
	}
}
