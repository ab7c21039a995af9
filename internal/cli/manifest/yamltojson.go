package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
)

// yamlToJSON converts one YAML document. before is the number of lines that stand before it in its file, for messages.
//
// The parser is the one that kubectl prints with: it knows which bare words YAML 1.1 takes for booleans, and it refuses
// aliases that multiply.
func yamlToJSON(text []byte, before int) (json.RawMessage, error) {
	if looksJSON(text) && json.Valid(text) {
		return bytes.TrimSpace(text), nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.SetStrict(true) // no key twice
	var value, more any
	if err := dec.Decode(&value); err != nil && !errors.Is(err, io.EOF) {
		return nil, notYAML(err, before)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("not valid YAML: a document marker after a line break that is none to most programs; use LF or CRLF")
	}
	value, err := jsonValue(value)
	if err != nil {
		return nil, fmt.Errorf("not valid YAML: %w", err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	return raw, nil
}

// jsonValue gives every object string keys, in place where it can.
func jsonValue(value any) (any, error) {
	var err error
	switch value := value.(type) {
	case map[any]any:
		out := make(map[string]any, len(value))
		for k, v := range value {
			key, err := jsonKey(k)
			if err != nil {
				return nil, err
			}
			if _, twice := out[key]; twice {
				return nil, fmt.Errorf("the key %q is there twice", key)
			}
			if out[key], err = jsonValue(v); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		for i := range value {
			if value[i], err = jsonValue(value[i]); err != nil {
				return nil, err
			}
		}
		return value, nil
	default:
		return value, nil
	}
}

func jsonKey(key any) (string, error) {
	switch key := key.(type) {
	case string:
		return key, nil
	case int, int64, uint64, float64, bool:
		return fmt.Sprint(key), nil
	default:
		return "", errors.New("a key that is neither a string nor a number nor a boolean")
	}
}

var lineNumber = regexp.MustCompile(`\bline (\d+)`)

// notYAML is an error of the parser as one line that counts the lines of the file.
func notYAML(err error, before int) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if several, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = several.Errors[0]
	}
	text = lineNumber.ReplaceAllStringFunc(text, func(found string) string {
		n, err := strconv.Atoi(strings.TrimPrefix(found, "line "))
		if err != nil {
			return found
		}
		return fmt.Sprintf("line %d", before+n)
	})
	return fmt.Errorf("not valid YAML: %s", text)
}
