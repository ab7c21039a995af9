package manifest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Expected says what kind of input is meant, for messages.
const Expected = `expected Nodes as "kubectl get nodes -o yaml" prints them`

const (
	// wholeBytes is up to where a YAML document is parsed in one piece. A larger one is most likely a list that a
	// program printed; it is parsed item by item.
	wholeBytes = 1 << 20
	// maxObjectBytes bounds one object. The API server stores none that is larger than a few MiB.
	maxObjectBytes = 32 << 20
	// maxNesting bounds lists within lists.
	maxNesting = 4
)

// Place is where an object was found.
type Place struct {
	// File is the file's name as the user gave it.
	File string
	// Document counts the documents of the file from 1.
	Document int
	// Item counts the items of the document's list from 1; 0 is the document itself.
	Item int
}

// String is the place as messages show it, such as "nodes.yaml: document 1: item 4".
func (p Place) String() string {
	s := fmt.Sprintf("%s: document %d", p.File, p.Document)
	if p.Item > 0 {
		s += fmt.Sprintf(": item %d", p.Item)
	}
	return s
}

// errorf is an error at this place.
func (p Place) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{p}, args...)...)
}

// Object is one Kubernetes object.
type Object struct {
	Place Place
	// APIVersion and Kind are never empty. The items of a typed list such as a NodeList may leave them out; they are
	// filled in.
	APIVersion, Kind string
	// Name is metadata.name; empty when it is missing.
	Name string
	// JSON is the whole object.
	JSON json.RawMessage
}

// Stats is what a file holds besides objects.
type Stats struct {
	// Documents is the number of documents, empty ones included.
	Documents int
	// EmptyList is true when the file holds a List or a NodeList without items: what kubectl prints for none.
	EmptyList bool
	// EmptyLists names the apiVersion and the kind of the items of every other typed list without items, such as "v1 Pod".
	EmptyLists []string
}

// Each calls visit for every object in the text, in order, and stops at its first error. Lists are taken apart. Empty
// documents are skipped.
//
// The text is UTF-8, or UTF-16 with a byte order mark. Every error but one of visit is a single line that starts with the
// file's name.
func Each(file string, text io.Reader, visit func(Object) error) (Stats, error) {
	r := &reader{file: file, visit: visit, whole: wholeBytes, budget: &budget{r: text, limit: maxObjectBytes, left: maxObjectBytes}}
	err := r.read()
	return r.stats, err
}

type reader struct {
	file   string
	visit  func(Object) error
	whole  int
	budget *budget
	stats  Stats
}

// read takes JSON documents as long as there are some, and the rest as YAML, of which JSON is a part: only the speed
// differs.
func (r *reader) read() error {
	text := bufio.NewReaderSize(transform.NewReader(r.budget, unicode.BOMOverride(transform.Nop)), 64<<10)
	rest, err := r.jsonDocuments(text)
	if err != nil {
		return err
	}
	return r.yamlDocuments(rest)
}

// next is the place of the document that begins.
func (r *reader) next() Place {
	r.budget.renew()
	r.stats.Documents++
	return Place{File: r.file, Document: r.stats.Documents}
}

// object hands one object to the visitor, or the items of a list.
func (r *reader) object(place Place, raw json.RawMessage, h header, nesting int) error {
	if err := h.check(); err != nil {
		return place.errorf("%w", err)
	}
	if h.hasItems() {
		if nesting == maxNesting {
			return place.errorf("lists within lists, more than %d deep; %s", maxNesting, Expected)
		}
		return r.nested(place, raw, nesting+1)
	}
	return r.visit(Object{Place: place, APIVersion: h.APIVersion, Kind: h.Kind, Name: h.Metadata.Name, JSON: raw})
}

// header is what tells what an object is.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Items json.RawMessage `json:"items"`
}

func headerOf(raw json.RawMessage) (h header, err error) {
	if what := jsonType(raw); what != "an object" {
		return h, fmt.Errorf("not a Kubernetes object: it is %s; %s", what, Expected)
	}
	if err := unmarshal(raw, &h); err != nil {
		return h, fmt.Errorf("not a Kubernetes object: %w; %s", err, Expected)
	}
	return h, nil
}

// bare reports whether an object leaves it to its list to say what it is.
func (h header) bare() bool { return h.APIVersion == "" && h.Kind == "" }

func (h header) check() error {
	switch {
	case h.Kind == "":
		return errors.New("not a Kubernetes object: kind is missing; " + Expected)
	case h.APIVersion == "":
		return fmt.Errorf("not a Kubernetes object: kind is %q, apiVersion is missing; %s", h.Kind, Expected)
	default:
		return nil
	}
}

func (h header) hasItems() bool {
	return h.isList() && len(h.Items) > 0 && h.Items[0] == '['
}

// isList reports whether this is a list, going by the name of its kind.
func (h header) isList() bool { return strings.HasSuffix(h.Kind, "List") }

// itemKind is the kind of the items of a typed list, and empty for a plain List, whose items must say it themselves.
func (h header) itemKind() string {
	return strings.TrimSuffix(h.Kind, "List")
}

// ofNodes reports whether a list of this kind may hold Nodes.
func (h header) ofNodes() bool {
	return h.APIVersion == "v1" && (h.Kind == "List" || h.Kind == "NodeList")
}

// budget bounds how much is read for one object, so that input without an end is noticed.
type budget struct {
	r           io.Reader
	limit, left int
}

var errTooLarge = fmt.Errorf("larger than %d MiB and not a list; %s", maxObjectBytes>>20, Expected)

func (b *budget) renew() { b.left = b.limit }

// Read implements io.Reader.
func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
