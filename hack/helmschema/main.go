package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "helmschema:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: helmschema CHART_FOLDER")
	}
	values, err := os.ReadFile(filepath.Join(args[0], "values.yaml"))
	if err != nil {
		return fmt.Errorf("read values: %w", err)
	}
	crd, err := readCRD(args[0])
	if err != nil {
		return err
	}
	content, err := Generate(filepath.Base(args[0]), values, crd)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(args[0], "values.schema.json"), content, 0o644); err != nil { //nolint:gosec // part of the chart
		return fmt.Errorf("write schema: %w", err)
	}
	return nil
}

// Generate returns the schema of a chart's values. crd may be nil.
func Generate(chart string, values []byte, crd map[string]any) ([]byte, error) {
	schema, err := document(values, crd)
	if err != nil {
		return nil, err
	}
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	schema["title"] = "Values of the chart " + chart
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(schema); err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	return out.Bytes(), nil
}
