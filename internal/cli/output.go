package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/pflag"
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

// print writes the inventory. Nothing is written when it cannot be encoded.
func (f *format) print(w io.Writer, inv *v1.GpuInventory, options tableOptions) error {
	var out bytes.Buffer
	if *f == formatTable {
		options.fit(w)
		writeTable(&out, inv, options)
	} else if err := f.encode(&out, inv); err != nil {
		return failure{fmt.Errorf("encode the inventory: %w", err)}
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return failure{fmt.Errorf("write the inventory: %w", err)}
	}
	return nil
}

// encode prints the object with sorted keys and an indent of four, as kubectl prints objects.
func (f *format) encode(w io.Writer, inv *v1.GpuInventory) error {
	raw, err := json.Marshal(inv)
	if err != nil {
		return err
	}
	var object map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // 64-bit counts stay exact
	if err := dec.Decode(&object); err != nil {
		return err
	}
	dropEmptyTimes(object)
	text, err := json.MarshalIndent(object, "", "    ")
	if err != nil {
		return err
	}
	if *f == formatYAML {
		if text, err = yaml.JSONToYAML(text); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(w, string(bytes.TrimSpace(text)))
	return err
}

// dropEmptyTimes removes the times of conditions that nobody has written: the Go type prints an unset one as null, which
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
