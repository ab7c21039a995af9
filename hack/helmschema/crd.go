package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readCRD returns the schema of the CustomResourceDefinition in the chart's files/crds, or nil if there is none.
func readCRD(chart string) (map[string]any, error) {
	files, err := filepath.Glob(filepath.Join(chart, "files", "crds", "*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	if len(files) > 1 {
		return nil, fmt.Errorf("there are %d CustomResourceDefinitions, and {crd: …} does not say which", len(files))
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		return nil, fmt.Errorf("read CRD: %w", err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Storage bool
				Schema  struct {
					OpenAPIV3Schema map[string]any `yaml:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(content, &crd); err != nil {
		return nil, fmt.Errorf("parse CRD: %w", err)
	}
	for _, version := range crd.Spec.Versions {
		if version.Storage {
			return version.Schema.OpenAPIV3Schema, nil
		}
	}
	return nil, fmt.Errorf("%s has no stored version", files[0])
}

// crdField returns the schema of a field, such as spec.expected, as JSON Schema.
func crdField(crd map[string]any, path string) (map[string]any, error) {
	field := crd
	for name := range strings.SplitSeq(path, ".") {
		properties, _ := field["properties"].(map[string]any)
		next, ok := properties[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("the CRD has no field %s", path)
		}
		field = next
	}
	return strict(field).(map[string]any), nil
}

// strict returns a copy of a schema without what JSON Schema does not know, whose objects allow no other fields. An API server
// would drop a misspelt field without an error.
func strict(schema any) any {
	switch s := schema.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, inner := range s {
			if strings.HasPrefix(key, "x-kubernetes-") || key == "format" {
				continue
			}
			out[key] = strict(inner)
		}
		if _, isObject := out["properties"].(map[string]any); isObject && out["type"] == "object" {
			out["additionalProperties"] = false
		}
		return out
	case []any:
		out := make([]any, len(s))
		for i := range s {
			out[i] = strict(s[i])
		}
		return out
	default:
		return schema
	}
}
