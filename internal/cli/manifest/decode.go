package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
)

// Decode turns an object into a Go type of the Kubernetes API. It accepts fields that the type does not have, as they come
// with newer versions, and nothing of the wrong type. The error names the place, the object and the field.
func Decode(o Object, into any) error {
	if err := unmarshal(o.JSON, into); err != nil {
		return o.errorf("%w", err)
	}
	return nil
}

// errorf is an error about this object.
func (o Object) errorf(format string, args ...any) error {
	name := ""
	if o.Name != "" {
		name = " " + strconv.Quote(o.Name)
	}
	return o.Place.errorf("%s%s: "+format, append([]any{o.Kind, name}, args...)...)
}

// unmarshal decodes as the API server does: keys match by case, and none may be there twice.
func unmarshal(raw []byte, into any) error {
	twice, err := kjson.UnmarshalStrict(raw, into, kjson.DisallowDuplicateFields)
	if err != nil {
		return explain(raw, reflect.TypeOf(into), "", err)
	}
	if len(twice) > 0 {
		return twice[0]
	}
	return nil
}

// explain finds the deepest value that does not fit its type. The decoder knows what is wrong; of where, it keeps the
// Go type, no map key and no index, and nothing at all when the type decodes itself.
func explain(raw []byte, t reflect.Type, path string, cause error) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for _, c := range children(raw, t) {
		if _, err := kjson.UnmarshalStrict(c.raw, reflect.New(c.t).Interface(), kjson.DisallowDuplicateFields); err != nil {
			return explain(c.raw, c.t, path+c.step, err)
		}
	}
	path = strings.TrimPrefix(path, ".")
	if decodesItself(t) {
		return fmt.Errorf("%s: %w", path, cause)
	}
	want, ok := typeNames[t.Kind()]
	if !ok {
		want = "a " + t.String()
	}
	return fmt.Errorf("%s is %s, must be %s", path, jsonType(raw), want)
}

var typeNames = map[reflect.Kind]string{
	reflect.Struct: "an object",
	reflect.Map:    "an object",
	reflect.Slice:  "a list",
	reflect.String: "a string",
	reflect.Bool:   "a boolean",
	reflect.Int32:  "a whole number",
	reflect.Int64:  "a whole number",
}

func decodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// child is a value within another, and the type that it must have.
type child struct {
	step string // how the path goes on to it
	raw  json.RawMessage
	t    reflect.Type
}

func children(raw []byte, t reflect.Type) (out []child) {
	if decodesItself(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return nil
		}
		for i, item := range items {
			out = append(out, child{fmt.Sprintf("[%d]", i), item, t.Elem()})
		}
	case reflect.Map:
		values := fields(raw)
		for _, key := range slices.Sorted(maps.Keys(values)) { // the same error every time
			out = append(out, child{fmt.Sprintf("[%s]", key), values[key], t.Elem()})
		}
	case reflect.Struct:
		values := fields(raw)
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if value, ok := values[name]; ok && name != "" {
				out = append(out, child{"." + name, value, f.Type})
			}
		}
	}
	return out
}

func fields(raw []byte) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// jsonType names the type of a JSON value.
func jsonType(raw []byte) string {
	raw = []byte(strings.TrimLeft(string(raw[:min(len(raw), 64)]), blanks))
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}
