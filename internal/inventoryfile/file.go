package inventoryfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Manifest is a GpuInventory as a file describes it.
type Manifest struct {
	// Path is the file.
	Path string
	// Name is the object's name.
	Name string
	// Body is what to apply, as JSON.
	Body []byte
}

// Read reads a file that holds one GpuInventory and nothing else. An error is one line that says what to change.
func Read(path string) (*Manifest, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err // it names the file
	}
	m, err := Parse(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.Path = path
	return m, nil
}

// Parse parses the content of such a file. It refuses unknown fields: they are misspelt, and without them the object would
// not be what its author meant.
func Parse(content []byte) (*Manifest, error) {
	document, err := onlyDocument(content)
	if err != nil {
		return nil, err
	}
	raw, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, oneLine(err)
	}
	inv, err := decode(raw)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(inv)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return &Manifest{Name: inv.Name, Body: body}, nil
}

// onlyDocument returns the one document in content. It refuses a second one, because nobody would notice that it is not
// applied.
func onlyDocument(content []byte) ([]byte, error) {
	var found [][]byte
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, oneLine(err)
		}
		if !blank(document) {
			found = append(found, document)
		}
	}
	switch len(found) {
	case 0:
		return nil, errors.New("it is empty: it must hold one GpuInventory")
	case 1:
		return found[0], nil
	default:
		return nil, fmt.Errorf("it has %d documents: it must hold one GpuInventory", len(found))
	}
}

func blank(document []byte) bool {
	for line := range bytes.Lines(document) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}

// decode decodes a GpuInventory, and refuses fields that only the operator or the API server may set.
func decode(raw []byte) (*v1.GpuInventory, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(raw, &top); err != nil {
		return nil, errors.New("it is not an object: it must hold one GpuInventory")
	}
	if apiVersion, kind := text(top["apiVersion"]), text(top["kind"]); apiVersion != v1.GroupVersion.String() || kind != v1.Kind {
		return nil, fmt.Errorf("it has apiVersion %q and kind %q: it must hold one GpuInventory of %s", apiVersion, kind, v1.GroupVersion)
	}
	if _, ok := top["status"]; ok {
		return nil, errors.New("it has a status, which only the operator writes: take it out")
	}
	if err := checkMetadata(top["metadata"]); err != nil {
		return nil, err
	}
	var inv v1.GpuInventory
	unknown, err := kjson.UnmarshalStrict(raw, &inv)
	if err != nil {
		return nil, oneLine(err)
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("%w: see kubectl explain gpuinventory", unknown[0])
	}
	if msgs := validation.IsDNS1123Subdomain(inv.Name); len(msgs) > 0 {
		return nil, fmt.Errorf("metadata.name %q: %s", inv.Name, strings.Join(msgs, "; "))
	}
	return &inv, nil
}

// checkMetadata refuses fields that the API server sets, and fields that would change the meaning of the apply.
func checkMetadata(raw json.RawMessage) error {
	var metadata map[string]json.RawMessage
	if err := json.Unmarshal(raw, &metadata); err != nil {
		return errors.New("metadata is not an object: give metadata.name")
	}
	for field := range metadata {
		if field != "name" && field != "labels" && field != "annotations" {
			return fmt.Errorf("metadata.%s: only name, labels and annotations can be given", field)
		}
	}
	return nil
}

// text returns the value of a JSON string, and an empty string for every other value.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // on an error, s stays empty
	return s
}

func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
