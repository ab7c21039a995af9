package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

// Decode turns an object into a Go type of the Kubernetes API. It ignores fields that the type does not have, which newer
// versions bring, and refuses values of the wrong type. The error names the place, the object and the field.
func Decode(o Object, into any) error {
	err := unmarshal(o.JSON, into)
	switch {
	case err == nil:
		return nil
	case o.Name == "":
		return o.Place.errorf("%s: %w", o.Kind, err)
	default:
		return o.Place.errorf("%s %q: %w", o.Kind, o.Name, err)
	}
}

// unmarshal decodes as the API server does: keys match by case, and none may be there twice.
func unmarshal(raw []byte, into any) error {
	twice, err := kjson.UnmarshalStrict(raw, into, kjson.DisallowDuplicateFields)
	switch {
	case err != nil:
		return cmp.Or(misfitIn(raw, reflect.TypeOf(into).Elem()), err)
	case len(twice) > 0:
		return twice[0]
	default:
		return nil
	}
}

// misfitIn says which value does not fit its type. The decoder's own error has neither map keys nor indexes, and no place at
// all when a type decodes itself, as quantities do.
func misfitIn(raw []byte, t reflect.Type) error {
	var value any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &value); err != nil {
		return err
	}
	return misfit("", value, func(part any) error {
		raw, err := json.Marshal(part)
		if err != nil {
			return err
		}
		return kjson.UnmarshalCaseSensitivePreserveInts(raw, reflect.New(t).Interface())
	})
}

// misfit decodes every part of the value alone, down to the one that fails.
func misfit(path string, value any, decode func(any) error) error {
	empty := value
	switch value.(type) {
	case map[string]any:
		empty = map[string]any{}
	case []any:
		empty = []any{}
	}
	if err := decode(empty); err != nil {
		return describe(path, empty, err)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) { // the same error every time
			within := func(part any) error { return decode(map[string]any{key: part}) }
			if err := misfit(join(path, key), value[key], within); err != nil {
				return err
			}
		}
	case []any:
		for i, item := range value {
			within := func(part any) error { return decode([]any{part}) }
			if err := misfit(fmt.Sprintf("%s[%d]", path, i), item, within); err != nil {
				return err
			}
		}
	}
	return nil
}

// join returns the path of a field. A key with dots, such as that of a label, stands in brackets.
func join(path, key string) string {
	switch {
	case strings.Contains(key, "."):
		return path + "[" + key + "]"
	case path == "":
		return key
	default:
		return path + "." + key
	}
}

// describe says what a value is and what it must be, or else why its type refuses it.
func describe(path string, value any, err error) error {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return fmt.Errorf("%s: %w", path, err)
	}
	raw, _ := json.Marshal(value) // it came from JSON: no error
	want := cmp.Or(typeNames[mismatch.Type.Kind()], mismatch.Type.String())
	return fmt.Errorf("%s is %s, must be %s", path, typeOf(raw), want)
}

var typeNames = map[reflect.Kind]string{
	reflect.Struct: "an object", reflect.Map: "an object", reflect.Slice: "a list", reflect.String: "a string",
	reflect.Bool: "a boolean", reflect.Int32: "a whole number", reflect.Int64: "a whole number",
}

// typeOf names the type of a JSON value.
func typeOf(raw []byte) string {
	names := map[byte]string{'{': "an object", '[': "a list", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null"}
	return cmp.Or(names[raw[0]], "a number")
}
