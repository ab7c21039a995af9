package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

const blanks = " \t\r\n"

// decoder is a JSON decoder that can look ahead.
type decoder struct {
	*json.Decoder
	text *bufio.Reader
}

func newDecoder(text io.Reader) decoder {
	in := bufio.NewReader(text)
	return decoder{json.NewDecoder(in), in}
}

// ahead returns the beginning of what has not been decoded.
func (d decoder) ahead() []byte {
	start, _ := io.ReadAll(io.LimitReader(d.Buffered(), int64(d.text.Size()))) // a buffer in memory: no error
	more, _ := d.text.Peek(d.text.Size())                                      // a read error comes again
	return bytes.TrimLeft(append(start, more...), blanks+":")
}

// jsonDocuments reads the JSON documents at the start of the text and returns what follows them. A brace alone does not make
// JSON: YAML in flow style has it too, but seldom a quoted key.
func (r *reader) jsonDocuments(text io.Reader) (rest io.Reader, err error) {
	dec := newDecoder(text)
	for {
		start := dec.ahead()
		inner := bytes.TrimLeft(start, blanks+"{[")
		if len(inner) == len(start) || len(inner) == 0 || !strings.Contains(`"}]`, string(inner[:1])) {
			return io.MultiReader(dec.Buffered(), dec.text), nil
		}
		if err := r.newDocument(r.next()).read(dec); err != nil {
			return nil, err
		}
	}
}

// document is one document while it is read. kubectl prints a list with sorted fields, so what the list is comes after its
// items; items that do not say themselves what they are wait for that.
type document struct {
	r       *reader
	place   Place
	nesting int
	fields  map[string]json.RawMessage // of the object; a list's items are not kept
	items   int
	waiting []Object
}

func (r *reader) newDocument(place Place) *document {
	return &document{r: r, place: place, fields: map[string]json.RawMessage{}}
}

// readJSON reads the document from a text of its own.
func (d *document) readJSON(raw []byte) error { return d.read(newDecoder(bytes.NewReader(raw))) }

// read reads the document from a decoder that stands at its start.
func (d *document) read(dec decoder) error {
	switch token, err := dec.Token(); {
	case err != nil:
		return d.invalid(err)
	case token == json.Delim('{'):
		return d.each(dec, d.field, d.end)
	case token == json.Delim('['):
		return d.each(dec, d.item, d.release)
	case token == nil:
		return nil
	default:
		raw, _ := json.Marshal(token) // a string, a number or a boolean: no error
		_, err = objectOf(d.place, raw)
		return err
	}
}

// each reads all elements of an object or a list, and its end.
func (d *document) each(dec decoder, element func(decoder) error, then func() error) error {
	for dec.More() {
		if err := element(dec); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return d.invalid(err)
	}
	return then()
}

func (d *document) field(dec decoder) error {
	token, err := dec.Token()
	if err != nil {
		return d.invalid(err)
	}
	key := token.(string) // the decoder accepts no other key
	if d.fields[key] != nil {
		return d.place.errorf("the field %q is there twice", key) // one of them would win in silence
	}
	if key == "items" && bytes.HasPrefix(dec.ahead(), []byte("[")) {
		d.fields[key] = json.RawMessage("[]")
		if _, err := dec.Token(); err != nil {
			return d.invalid(err)
		}
		return d.each(dec, d.item, func() error { return nil })
	}
	value, err := d.value(dec)
	d.fields[key] = value
	return err
}

func (d *document) item(dec decoder) error {
	raw, err := d.value(dec)
	if err != nil {
		return err
	}
	return d.add(raw)
}

func (d *document) value(dec decoder) (raw json.RawMessage, err error) {
	if err := dec.Decode(&raw); err != nil {
		return nil, d.invalid(err)
	}
	return raw, nil
}

// add passes on the next item of the list.
func (d *document) add(raw json.RawMessage) error {
	d.r.budget.renew()
	d.items++
	place := d.place
	if d.nesting == 0 {
		place.Item = d.items
	}
	o, err := objectOf(place, raw)
	if err != nil {
		return err
	}
	if o.APIVersion != "" || o.Kind != "" {
		return d.r.object(o, d.nesting)
	}
	d.waiting = append(d.waiting, o)
	if d.fields["kind"] == nil || d.fields["apiVersion"] == nil {
		return nil
	}
	return d.release()
}

// release passes on the items that waited, as what their list says.
func (d *document) release() error {
	list, err := d.object()
	for _, o := range d.waiting {
		if err != nil {
			break
		}
		o.APIVersion, o.Kind = list.APIVersion, list.itemKind()
		err = d.r.object(o, d.nesting)
	}
	d.waiting = nil
	return err
}

// object returns the document as an object, without the items of a list.
func (d *document) object() (Object, error) {
	raw, err := json.Marshal(d.fields)
	if err != nil {
		return Object{}, d.invalid(err)
	}
	return objectOf(d.place, raw)
}

// end finishes an object or a list.
func (d *document) end() error {
	d.r.budget.renew()
	o, err := d.object()
	if err == nil {
		err = o.check()
	}
	items := string(d.fields["items"])
	switch {
	case err != nil:
		return err
	case !o.isList(), items == "" && !o.listsNodes():
		return d.r.visit(o)
	case items == "":
		return d.place.errorf("a %s without items; %s", o.Kind, Expected)
	case items != "null" && items != "[]":
		return d.place.errorf("items of a %s must be a list; %s", o.Kind, Expected)
	case d.items > 0:
	case o.listsNodes():
		d.r.stats.EmptyList = true
	default:
		d.r.stats.EmptyLists = append(d.r.stats.EmptyLists, o.APIVersion+" "+o.itemKind())
	}
	return d.release()
}

// invalid words an error of the decoder.
func (d *document) invalid(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return d.place.errorf("not valid JSON: it ends too early")
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return d.place.errorf("not valid JSON at byte %d: %w", syntax.Offset, err)
	}
	return d.place.errorf("%w", err)
}
