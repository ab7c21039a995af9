package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

const blanks = " \t\r\n"

// looksJSON reports whether a text that starts like this is JSON. A brace alone does not tell: YAML knows it too, but
// there a key is seldom quoted.
func looksJSON(start []byte) bool {
	start = bytes.TrimLeft(start, blanks)
	if len(start) == 0 || start[0] != '{' && start[0] != '[' {
		return false
	}
	inner := bytes.TrimLeft(start, blanks+"{[")
	return len(inner) > 0 && bytes.IndexByte([]byte(`"}]`), inner[0]) >= 0
}

// jsonDocuments reads the JSON documents at the start of the text and returns what follows them.
func (r *reader) jsonDocuments(text *bufio.Reader) (rest *bufio.Reader, err error) {
	start, _ := text.Peek(peekBytes) // a read error comes again
	if !looksJSON(start) {
		return text, nil
	}
	dec := json.NewDecoder(text)
	for looksJSON(ahead(dec, text)) {
		d := r.newDocument(r.next())
		if err := d.decode(dec); err != nil {
			return nil, err
		}
	}
	return bufio.NewReader(io.MultiReader(dec.Buffered(), text)), nil
}

const peekBytes = 4 << 10

// ahead is the beginning of what the decoder has not decoded yet.
func ahead(dec *json.Decoder, text *bufio.Reader) []byte {
	start, _ := io.ReadAll(io.LimitReader(dec.Buffered(), peekBytes)) // a buffer in memory: no error
	more, _ := text.Peek(peekBytes)
	return append(start, more...)
}

// document is one document while it is read: the fields of an object, or the items of a list. A list may say what it is
// after its items, as kubectl sorts them; items that leave that to the list wait for it.
type document struct {
	r       *reader
	place   Place
	nesting int

	fields  bytes.Buffer // a JSON object without the items and without its end
	keys    map[string]bool
	items   int
	waiting []Object
	list    header // what the list is, once that is known
}

func (r *reader) newDocument(place Place) *document {
	return &document{r: r, place: place, keys: map[string]bool{}}
}

// nested takes a list within a list apart. Its items keep the place of the list.
func (r *reader) nested(place Place, raw json.RawMessage, nesting int) error {
	d := r.newDocument(place)
	d.nesting = nesting
	return d.decode(json.NewDecoder(bytes.NewReader(raw)))
}

// decode reads the document from a decoder that stands at its start.
func (d *document) decode(dec *json.Decoder) error {
	token, err := dec.Token()
	if err != nil {
		return d.invalid(err)
	}
	switch token {
	case json.Delim('['):
		if err := d.decodeItems(dec); err != nil {
			return err
		}
		return d.release()
	case json.Delim('{'):
		if err := d.decodeFields(dec); err != nil {
			return err
		}
		return d.end()
	case nil:
		return nil
	default:
		raw, err := json.Marshal(token)
		if err != nil {
			return d.invalid(err)
		}
		_, err = headerOf(raw)
		return d.place.errorf("%w", err)
	}
}

func (d *document) decodeFields(dec *json.Decoder) error {
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return d.invalid(err)
		}
		name := key.(string) // the decoder accepts no other key
		if name == "items" {
			err = d.decodeList(dec)
		} else {
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				return d.invalid(err)
			}
			err = d.field(name, value)
		}
		if err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return d.invalid(err)
	}
	return nil
}

// decodeList reads the value of the field items, which need not be a list when the object is none.
func (d *document) decodeList(dec *json.Decoder) error {
	token, err := dec.Token()
	if err != nil {
		return d.invalid(err)
	}
	if token == json.Delim('[') {
		if err := d.open("items"); err != nil {
			return err
		}
		return d.decodeItems(dec)
	}
	for depth := depthOf(token); depth > 0; depth += depthOf(token) {
		if token, err = dec.Token(); err != nil {
			return d.invalid(err)
		}
	}
	if token == nil { // how an empty list of Go is printed
		return d.open("items")
	}
	return d.field("items", json.RawMessage(`{}`))
}

func depthOf(token json.Token) int {
	switch token {
	case json.Delim('{'), json.Delim('['):
		return 1
	case json.Delim('}'), json.Delim(']'):
		return -1
	default:
		return 0
	}
}

func (d *document) decodeItems(dec *json.Decoder) error {
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return d.invalid(err)
		}
		if err := d.item(raw); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return d.invalid(err)
	}
	return nil
}

// open notes that a key is there. The same key twice would make one of its values win in silence.
func (d *document) open(key string) error {
	if d.keys[key] {
		return d.place.errorf("the field %q is there twice", key)
	}
	d.keys[key] = true
	return nil
}

func (d *document) field(key string, value json.RawMessage) error {
	if err := d.open(key); err != nil {
		return err
	}
	name, err := json.Marshal(key)
	if err != nil {
		return d.invalid(err)
	}
	if d.fields.Len() > 0 {
		d.fields.WriteByte(',')
	}
	d.fields.Write(name)
	d.fields.WriteByte(':')
	d.fields.Write(value)
	return nil
}

func (d *document) item(raw json.RawMessage) error {
	d.r.budget.renew()
	d.items++
	place := d.place
	if d.nesting == 0 {
		place.Item = d.items
	}
	h, err := headerOf(raw)
	if err != nil {
		return place.errorf("%w", err)
	}
	if !h.bare() {
		return d.r.object(place, raw, h, d.nesting)
	}
	if d.list.bare() && d.keys["kind"] && d.keys["apiVersion"] {
		if d.list, err = headerOf(d.head()); err != nil {
			return d.place.errorf("%w", err)
		}
	}
	o := Object{Place: place, JSON: raw, Name: h.Metadata.Name}
	if d.list.bare() {
		d.waiting = append(d.waiting, o)
		return nil
	}
	return d.adopt(o)
}

// adopt hands on an item that is what its list says.
func (d *document) adopt(o Object) error {
	h := header{APIVersion: d.list.APIVersion, Kind: d.list.itemKind()}
	h.Metadata.Name = o.Name
	return d.r.object(o.Place, o.JSON, h, d.nesting)
}

// release hands on the items that waited to know what list they are in.
func (d *document) release() error {
	for _, o := range d.waiting {
		if err := d.adopt(o); err != nil {
			return err
		}
	}
	return nil
}

// head is the object without its items.
func (d *document) head() json.RawMessage {
	return append(append([]byte{'{'}, d.fields.Bytes()...), '}')
}

// end finishes an object or a list.
func (d *document) end() error {
	d.r.budget.renew()
	raw := d.head()
	h, err := headerOf(raw)
	if err != nil {
		return d.place.errorf("%w", err)
	}
	if err := h.check(); err != nil {
		return d.place.errorf("%w", err)
	}
	switch {
	case !h.isList(), !d.keys["items"] && !h.ofNodes():
		return d.r.object(d.place, raw, h, d.nesting)
	case !d.keys["items"]:
		return d.place.errorf("a %s without items; %s", h.Kind, Expected)
	case h.Items != nil: // decodeList keeps what is no list
		return d.place.errorf("items of a %s must be a list; %s", h.Kind, Expected)
	}
	switch {
	case d.items > 0:
	case h.ofNodes():
		d.r.stats.EmptyList = true
	default:
		d.r.stats.EmptyLists = append(d.r.stats.EmptyLists, h.APIVersion+" "+h.itemKind())
	}
	d.list = h
	return d.release()
}

// invalid is an error of the decoder, in the words of the user.
func (d *document) invalid(err error) error {
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return d.place.errorf("not valid JSON: it ends too early")
	case isSyntax:
		return d.place.errorf("not valid JSON at byte %d: %w", syntax.Offset, err)
	default:
		return d.place.errorf("%w", err)
	}
}
