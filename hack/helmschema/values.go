package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// types are the JSON types of YAML tags.
var types = map[string]string{
	"!!str": "string", "!!int": "integer", "!!float": "number", "!!bool": "boolean", "!!seq": "array", "!!map": "object",
}

// document returns the schema of values.yaml as a whole.
func document(values []byte, crd map[string]any) (map[string]any, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(values, &doc); err != nil {
		return nil, fmt.Errorf("parse values: %w", err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("values.yaml is not a mapping")
	}
	top, err := keywords(doc.HeadComment)
	if err != nil {
		return nil, fmt.Errorf("the comment at the top: %w", err)
	}
	schema, err := group("", doc.Content[0], crd)
	if err != nil {
		return nil, err
	}
	if more, ok := top["properties"].(map[string]any); ok {
		maps.Copy(schema["properties"].(map[string]any), more)
		delete(top, "properties")
	}
	maps.Copy(schema, top)
	return schema, nil
}

// group returns the schema of a mapping whose members are values.
func group(prefix string, mapping *yaml.Node, crd map[string]any) (map[string]any, error) {
	properties, required := map[string]any{}, []string{}
	var errs []error
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, node := mapping.Content[i], mapping.Content[i+1]
		schema, err := value(prefix+key.Value, key.HeadComment, node, crd)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		properties[key.Value] = schema
		if needed(schema, node) {
			required = append(required, key.Value)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		slices.Sort(required)
		schema["required"] = required
	}
	return schema, errors.Join(errs...)
}

// needed reports whether a value is required. Templates read a group that is not empty, and a scalar that is not empty, without
// checking that it is there; a null removes it.
func needed(schema map[string]any, node *yaml.Node) bool {
	_, isGroup := schema["properties"]
	return isGroup && node.Kind == yaml.MappingNode && len(node.Content) > 0 || node.Kind == yaml.ScalarNode && node.Value != ""
}

// value returns the schema of one value, or of a group of values.
func value(name, comment string, node *yaml.Node, crd map[string]any) (map[string]any, error) {
	more, err := keywords(comment)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	description, described := describe(comment)
	if !described {
		if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
			return nil, fmt.Errorf(`%s is not described: put a comment that begins with "# --" above it`, name)
		}
		schema, err := group(name+".", node, crd)
		if err != nil {
			return nil, err
		}
		maps.Copy(schema, more)
		return schema, nil
	}
	schema := map[string]any{"type": types[node.Tag]}
	if path, ok := more["crd"].(string); ok {
		if schema, err = crdField(crd, path); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		delete(more, "crd")
	}
	maps.Copy(schema, more)
	schema["description"] = description
	return schema, complete(name, schema)
}

// complete refuses a schema that allows anything.
func complete(name string, schema map[string]any) error {
	switch schema["type"] {
	case "array":
		if schema["items"] == nil {
			return fmt.Errorf("%s is a list: say with # @schema {items: …} what is in it", name)
		}
	case "object":
		if schema["additionalProperties"] == nil && schema["properties"] == nil {
			return fmt.Errorf("%s is a mapping: say with # @schema {additionalProperties: …} what may be in it", name)
		}
	case nil, "":
		return fmt.Errorf("%s has no default to take the type from: say with # @schema {type: …} what it is", name)
	}
	return nil
}

// keywords returns the JSON Schema keywords in the @schema lines of a comment.
func keywords(comment string) (map[string]any, error) {
	found := map[string]any{}
	for line := range strings.Lines(comment) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "# @schema ")
		if !ok {
			continue
		}
		var more map[string]any
		if err := yaml.Unmarshal([]byte(text), &more); err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		maps.Copy(found, more)
	}
	return found, nil
}

// describe returns the text of a "# --" comment in one line, without the helm-docs tags that follow it.
func describe(comment string) (string, bool) {
	_, text, ok := strings.Cut("\n"+comment, "\n# -- ")
	if !ok {
		return "", false
	}
	var words []string
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "# ")
		if strings.HasPrefix(line, "@") {
			break
		}
		words = append(words, line)
	}
	return strings.Join(words, " "), true
}
