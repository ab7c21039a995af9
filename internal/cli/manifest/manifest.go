package manifest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Expected says what kind of input is meant, for messages.
const Expected = `expected Nodes as "kubectl get nodes -o yaml" prints them`

const (
	// wholeBytes is the size up to which YAML is parsed without cutting its lists into items.
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

// String returns the place as messages show it, such as "nodes.yaml: document 1: item 4".
func (p Place) String() string {
	s := fmt.Sprintf("%s: document %d", p.File, p.Document)
	if p.Item > 0 {
		s += fmt.Sprintf(": item %d", p.Item)
	}
	return s
}

func (p Place) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{p}, args...)...)
}

// Object is one Kubernetes object.
type Object struct {
	Place Place
	// APIVersion and Kind are never empty: items of a typed list such as a NodeList, which may leave them out, get them
	// from the list.
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

// Each calls visit for every object in the text, in order, and stops at its first error. The items of a list are visited
// one by one. Empty documents are skipped.
//
// The text is UTF-8, or UTF-16 with a byte order mark. Every error, except those of visit, is a single line that starts
// with the file's name.
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

// read reads JSON documents for as long as they come, and the rest as YAML.
func (r *reader) read() error {
	rest, err := r.jsonDocuments(transform.NewReader(r.budget, unicode.BOMOverride(transform.Nop)))
	if err != nil {
		return err
	}
	return r.yamlDocuments(rest)
}

// next returns the place of the document that begins.
func (r *reader) next() Place {
	r.budget.renew()
	r.stats.Documents++
	return Place{File: r.file, Document: r.stats.Documents}
}

// object passes an object to the visitor, or the items of a list, which have the list's place.
func (r *reader) object(o Object, nesting int) error {
	switch err := o.check(); {
	case err != nil:
		return err
	case !o.isList():
		return r.visit(o)
	case nesting == maxNesting:
		return o.Place.errorf("lists within lists, more than %d deep; %s", maxNesting, Expected)
	}
	d := r.newDocument(o.Place)
	d.nesting = nesting + 1
	return d.readJSON(o.JSON)
}

// objectOf reads what an object says it is, as far as it says that.
func objectOf(place Place, raw json.RawMessage) (Object, error) {
	var header struct {
		metav1.TypeMeta
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if what := typeOf(raw); what != "an object" {
		return Object{}, place.errorf("not a Kubernetes object: it is %s; %s", what, Expected)
	}
	if err := unmarshal(raw, &header); err != nil {
		return Object{}, place.errorf("not a Kubernetes object: %w; %s", err, Expected)
	}
	return Object{Place: place, APIVersion: header.APIVersion, Kind: header.Kind, Name: header.Metadata.Name, JSON: raw}, nil
}

func (o Object) check() error {
	switch {
	case o.Kind == "":
		return o.Place.errorf("not a Kubernetes object: kind is missing; " + Expected)
	case o.APIVersion == "":
		return o.Place.errorf("not a Kubernetes object: kind is %q, apiVersion is missing; %s", o.Kind, Expected)
	default:
		return nil
	}
}

func (o Object) isList() bool { return strings.HasSuffix(o.Kind, "List") }

// itemKind returns the kind of the items of a typed list. It is empty for a plain List, whose items must say it themselves.
func (o Object) itemKind() string { return strings.TrimSuffix(o.Kind, "List") }

// listsNodes reports whether a list of this kind may hold Nodes.
func (o Object) listsNodes() bool {
	return o.APIVersion == "v1" && (o.Kind == "List" || o.Kind == "NodeList")
}

// budget bounds how much is read for one object, so that input without an end is refused.
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
