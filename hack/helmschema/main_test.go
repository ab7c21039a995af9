package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// crd is the schema of a resource with one field.
var crd = map[string]any{"properties": map[string]any{"spec": map[string]any{"properties": map[string]any{
	"pools": map[string]any{
		"type": "array", "maxItems": 3, "x-kubernetes-list-type": "map", "description": "pools are …",
		"items": map[string]any{"type": "object", "properties": map[string]any{
			"nodes":  map[string]any{"type": "integer", "format": "int32", "minimum": 0},
			"labels": map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}},
		}},
	},
}}}}

func TestEachValueBecomesAProperty(t *testing.T) {
	for name, tc := range map[string]struct {
		values string
		want   string // the properties, and required where there is some
	}{
		"the type comes from the default": {
			"# -- A number.\na: 1\n# -- A switch.\nb: false\n# -- Text.\nc: \"\"\n",
			`{"properties":{"a":{"type":"integer","description":"A number."},"b":{"type":"boolean","description":"A switch."},
			  "c":{"type":"string","description":"Text."}},"required":["a","b"]}`,
		},
		"a description goes on over lines, and ends at a tag": {
			"# -- One\n# two.\n# @default -- three\na: x\n",
			`{"properties":{"a":{"type":"string","description":"One two."}},"required":["a"]}`,
		},
		"keywords are added, and win over what the default says": {
			"# @schema {type: [integer, string]}\n# @schema {minimum: 1}\n# -- A.\na: 1\n",
			`{"properties":{"a":{"type":["integer","string"],"minimum":1,"description":"A."}},"required":["a"]}`,
		},
		"a mapping without a description is a group": {
			"g:\n  # -- A.\n  a: 1\n",
			`{"properties":{"g":{"type":"object","additionalProperties":false,"required":["a"],
			  "properties":{"a":{"type":"integer","description":"A."}}}},"required":["g"]}`,
		},
		"a group can be open": {
			"# @schema {additionalProperties: true}\ng:\n  # -- A.\n  a: \"\"\n",
			`{"properties":{"g":{"type":"object","additionalProperties":true,
			  "properties":{"a":{"type":"string","description":"A."}}}},"required":["g"]}`,
		},
		"a described mapping is one value": {
			"# @schema {additionalProperties: true}\n# -- M.\nm:\n  a: 1\n",
			`{"properties":{"m":{"type":"object","additionalProperties":true,"description":"M."}}}`,
		},
		"a field of the CRD brings its limits, closed": {
			"# @schema {crd: spec.pools}\n# -- Pools.\npools: []\n",
			`{"properties":{"pools":{"type":"array","maxItems":3,"description":"Pools.","items":{"type":"object","additionalProperties":false,
			  "properties":{"nodes":{"type":"integer","minimum":0},"labels":{"type":"object","additionalProperties":{"type":"string"}}}}}}}`,
		},
		"the comment at the top is for all": {
			"# Values.\n# @schema {properties: {enabled: {type: boolean}}}\n\n# -- A.\na: \"\"\n",
			`{"properties":{"a":{"type":"string","description":"A."},"enabled":{"type":"boolean"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			content, err := Generate("x", []byte(tc.values), crd)
			if err != nil {
				t.Fatal(err)
			}
			var got, want map[string]any
			if err := json.Unmarshal(content, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			want["$schema"], want["title"] = "http://json-schema.org/draft-07/schema#", "Values of the chart x"
			want["type"], want["additionalProperties"] = "object", false
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatWouldTakeAnythingIsRefused(t *testing.T) {
	for name, tc := range map[string]struct{ values, want string }{
		"a value without a description":   {"a: 1\n", "a is not described"},
		"a list of anything":              {"g:\n  # -- L.\n  l: []\n", "g.l is a list"},
		"a mapping of anything":           {"# -- M.\nm: {}\n", "m is a mapping"},
		"a value of no type":              {"# -- N.\nn: null\n", "n has no default"},
		"a field that the CRD lacks":      {"# @schema {crd: spec.pool}\n# -- P.\np: []\n", "p: the CRD has no field spec.pool"},
		"keywords that are not a mapping": {"# @schema minimum\n# -- A.\na: 1\n", `a: "minimum"`},
		"values that are not a mapping":   {"[]\n", "not a mapping"},
		"no YAML":                         {"a: [\n", "parse values"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Generate("x", []byte(tc.values), crd); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Generate() = %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestEveryMistakeIsReported(t *testing.T) {
	_, err := Generate("x", []byte("a: 1\ng:\n  b: 1\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "a is not") || !strings.Contains(err.Error(), "g.b is not") {
		t.Errorf("Generate() = %v, want both values in it", err)
	}
}
