package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v2"
)

var (
	bom         = []byte("\xEF\xBB\xBF")
	startMarker = regexp.MustCompile(`^---(\s|$)`)
	endMarker   = regexp.MustCompile(`^\.\.\.\s*($|\s#)`)
	// itemsLine opens the field items of the outermost object, in block style.
	itemsLine = regexp.MustCompile(`^items:\s*($|\s#)`)
	// firstDash is the dash of the first item, after blank lines and comments.
	firstDash = regexp.MustCompile(`^(?:[ \t]*(?:#.*)?\r?\n)*( *)-(?:\s|$)`)
)

// yamlReader cuts a stream of YAML into documents. In a long stream it also cuts lists into items: it knows of YAML only that
// in block style the items of the outermost list start with a dash at one fixed indentation, and that nothing within them
// stands as far left. Text in quotes that does stand there is cut as well, and its pieces do not parse: no object is misread.
type yamlReader struct {
	*reader
	long  bool
	lines int // read so far

	doc     *document // nil before it is needed
	text    []byte    // of the document; empty lines stand for the items that were cut out of it
	before  int       // lines before the text
	started bool      // the text is more than blanks, comments and directives

	inItems    bool
	indent     int // of the dashes
	item       []byte
	itemBefore int // lines before the item
}

func (r *reader) yamlDocuments(text io.Reader) error {
	start, _ := io.ReadAll(io.LimitReader(text, int64(r.whole)+1)) // a read error comes again
	y := &yamlReader{reader: r, long: len(start) > r.whole}
	in := bufio.NewReader(io.MultiReader(bytes.NewReader(start), text))
	for {
		line, err := in.ReadBytes('\n')
		if err := y.take(line); err != nil {
			return err
		}
		if y.long && y.doc == nil && itemsLine.Match(line) {
			y.cut(in)
		}
		switch {
		case errors.Is(err, io.EOF):
			return y.end()
		case err != nil:
			return y.document().invalid(err)
		}
	}
}

// take takes the next line.
func (y *yamlReader) take(line []byte) error {
	line = bytes.TrimPrefix(line, bom) // within the text too: files were put one after the other
	start, end := startMarker.Match(line), endMarker.Match(line)
	if start && y.started {
		if err := y.end(); err != nil {
			return err
		}
	}
	y.lines++
	y.started = y.started || start || !end && hasContent(line)
	if err := y.turn(line); err != nil {
		return err
	}
	if y.inItems {
		y.item = append(y.item, line...)
		line = []byte("\n")
	}
	y.text = append(y.text, line...)
	if end {
		return y.end()
	}
	return nil
}

// cut starts cutting the list that begins, if it is in block style.
func (y *yamlReader) cut(rest *bufio.Reader) {
	ahead, _ := rest.Peek(rest.Size()) // a read error comes again
	if dash := firstDash.FindSubmatch(ahead); dash != nil {
		y.document()
		y.inItems, y.indent, y.itemBefore = true, len(dash[1]), y.lines
	}
}

// turn ends an item before a line that starts the next one or follows the list.
func (y *yamlReader) turn(line []byte) error {
	if !y.inItems || !hasContent(line) {
		return nil
	}
	indent := len(line) - len(bytes.TrimLeft(line, " \t"))
	dash := indent == y.indent && firstDash.Match(line)
	if !dash && indent > 0 {
		return nil
	}
	y.inItems = dash
	return y.endItem()
}

func (y *yamlReader) endItem() error {
	raw, err := yamlToJSON(y.item, y.itemBefore)
	y.item, y.itemBefore = y.item[:0], y.lines-1
	switch {
	case err != nil:
		return y.doc.place.errorf("item %d: %w", y.doc.items+1, err)
	case raw[0] != '[': // comments before the first item
		return nil
	default:
		return y.doc.add(raw[1 : len(raw)-1])
	}
}

// end finishes the current document, if there is one.
func (y *yamlReader) end() error {
	defer func() { *y = yamlReader{reader: y.reader, long: y.long, lines: y.lines, before: y.lines} }()
	if !y.started {
		return nil
	}
	if y.inItems {
		if err := y.endItem(); err != nil {
			return err
		}
	}
	raw, err := yamlToJSON(y.text, y.before)
	if err != nil {
		return y.document().place.errorf("%w", err)
	}
	return y.document().readJSON(raw)
}

// document returns the current document.
func (y *yamlReader) document() *document {
	if y.doc == nil {
		y.doc = y.newDocument(y.next())
	}
	return y.doc
}

// hasContent reports whether a line has more than blanks and a comment. A directive belongs to the marker after it.
func hasContent(line []byte) bool {
	text := bytes.TrimLeft(line, blanks)
	return len(text) > 0 && text[0] != '#' && line[0] != '%'
}

// yamlToJSON converts one YAML document. before is the number of lines that stand before it in its file, for messages.
//
// The parser is the one below sigs.k8s.io/yaml, whose own conversion reads only the first of several documents and, of two
// keys that are equal as text, keeps either; both in silence.
func yamlToJSON(text []byte, before int) (json.RawMessage, error) {
	value, err := parse(text)
	if err != nil { // again, with the line numbers of the file
		_, err = parse(append(bytes.Repeat([]byte("\n"), before), text...))
	}
	if err == nil {
		value, err = withTextKeys(value)
	}
	if err != nil {
		return nil, fmt.Errorf("not valid YAML: %w", err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	return raw, nil
}

// parse reads one document, in which no key may be there twice.
func parse(text []byte) (value any, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.SetStrict(true)
	if err := dec.Decode(&value); errors.Is(err, io.EOF) {
		return nil, nil
	} else if several, ok := errors.AsType[*yaml.TypeError](err); ok {
		return nil, errors.New(several.Errors[0])
	} else if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if !errors.Is(dec.Decode(new(any)), io.EOF) {
		return nil, errors.New("a document marker after a line break that is none to most programs; use LF or CRLF")
	}
	return value, nil
}

// withTextKeys gives every object the string keys that JSON wants.
func withTextKeys(value any) (_ any, err error) {
	switch value := value.(type) {
	case map[any]any:
		out := make(map[string]any, len(value))
		for k, v := range value {
			switch k.(type) {
			case string, int, int64, uint64, float64, bool:
			default:
				return nil, errors.New("a key that is neither a string nor a number nor a boolean")
			}
			key := fmt.Sprint(k)
			if _, twice := out[key]; twice {
				return nil, fmt.Errorf("the key %q is there twice", key)
			}
			if out[key], err = withTextKeys(v); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		for i := range value {
			if value[i], err = withTextKeys(value[i]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
