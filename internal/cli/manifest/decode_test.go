package manifest

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestDecodeNamesTheFieldThatIsWrong(t *testing.T) {
	cases := map[string]struct {
		json string
		want string
	}{
		"labels that are a number":      {`{"metadata":{"labels":5}}`, `metadata.labels is a number, must be an object`},
		"a label that is a number":      {`{"metadata":{"labels":{"b":"x","nvidia.com/gpu.count":8}}}`, `metadata.labels[nvidia.com/gpu.count] is a number, must be a string`},
		"the first of several":          {`{"metadata":{"labels":{"b":1,"a":true}}}`, `metadata.labels.a is a boolean, must be a string`},
		"annotations that are a list":   {`{"metadata":{"annotations":[]}}`, `metadata.annotations is a list, must be an object`},
		"a quantity":                    {`{"status":{"capacity":{"cpu":"4","nvidia.com/gpu":"many"}}}`, `status.capacity[nvidia.com/gpu]: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`},
		"a time":                        {`{"status":{"conditions":[{"type":"Ready"},{"lastTransitionTime":"yesterday"}]}}`, `status.conditions[1].lastTransitionTime: parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`},
		"conditions that are an object": {`{"status":{"conditions":{}}}`, `status.conditions is an object, must be a list`},
		"a condition that is a text":    {`{"status":{"conditions":["Ready"]}}`, `status.conditions[0] is a string, must be an object`},
		"a flag that is a text":         {`{"spec":{"unschedulable":"yes"}}`, `spec.unschedulable is a string, must be a boolean`},
		"a number that is none":         {`{"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":1.5}}}}`, `status.daemonEndpoints.kubeletEndpoint.Port is a number, must be a whole number`},
		"status that is null is none":   {`{"status":null}`, ""},
		"a field twice":                 {`{"metadata":{"labels":{"a":"x","a":"y"}}}`, `duplicate field "metadata.labels.a"`},
		"fields that are not known":     {`{"status":{"futureField":{"x":1}}}`, ""},
		"a key in the wrong case":       {`{"Metadata":{"labels":5}}`, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := tc.want
			if want != "" {
				want = `nodes.yaml: document 2: item 3: Node "a": ` + want
			}
			o := Object{Place: Place{File: "nodes.yaml", Document: 2, Item: 3}, Kind: "Node", Name: "a", JSON: json.RawMessage(tc.json)}
			got := ""
			if err := Decode(o, &corev1.Node{}); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("Decode() =\n%s\nwant\n%s", got, want)
			}
		})
	}
}
