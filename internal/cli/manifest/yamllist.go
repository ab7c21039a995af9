package manifest

import (
	"bytes"
	"encoding/json"
)

// yamlList reads a large list item by item. It knows of YAML only that in block style an item of the outermost list
// starts with a dash at one fixed indentation, and that nothing within it stands as far left: each item is a list of one.
// A quoted text or a flow collection that does stand there is cut, and its pieces do not parse: no object is ever misread.
type yamlList struct {
	doc     *document
	state   yamlListState
	head    []byte // the document without the items, with as many lines
	itemsAt int    // where in head the line "items:" is
	text    []byte // the current item
	line    int    // lines before it
	before  int    // lines before the document
	// indent is the indentation of the dashes.
	indent int
}

type yamlListState int

const (
	inHead     yamlListState = iota
	afterItems               // the line "items:" was the last one with content
	inItems
)

func hasItemsLine(text []byte) bool {
	for line := range bytes.Lines(text) {
		if isItemsLine(line) {
			return true
		}
	}
	return false
}

// isItemsLine reports whether a line opens the field items of the outermost object, with nothing after it.
func isItemsLine(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("items:"))
	return ok && !hasContent(rest)
}

// take takes the line with the number n, or a further part of it.
func (l *yamlList) take(line []byte, lineStart bool, n int) error {
	if lineStart && hasContent(line) { // within an item other lines may be text, elsewhere they are nothing
		if err := l.turn(line, n); err != nil {
			return err
		}
	}
	if l.state != inItems {
		l.head = append(l.head, line...)
		return nil
	}
	l.text = append(l.text, line...)
	if bytes.HasSuffix(line, []byte("\n")) {
		l.head = append(l.head, '\n') // so that errors count the lines of the file
	}
	return nil
}

// turn changes the state before a line with content.
func (l *yamlList) turn(line []byte, n int) error {
	indent := len(line) - len(bytes.TrimLeft(line, " "))
	switch l.state {
	case inHead:
		if isItemsLine(line) {
			l.state, l.itemsAt = afterItems, len(l.head)
		}
	case afterItems:
		if !isDash(line[indent:]) {
			l.state = inHead // nothing, or a list in flow style: for the parser
			return nil
		}
		copy(l.head[l.itemsAt:], "      ") // where it would count as the field, of null
		l.state, l.indent, l.line = inItems, indent, n-1
		return l.doc.open("items")
	case inItems:
		if indent == l.indent && isDash(line[indent:]) {
			return l.item(n - 1)
		}
		if indent == 0 && line[0] != '\t' { // the next field
			if isItemsLine(line) {
				return l.doc.open("items")
			}
			l.state = inHead
			return l.item(n - 1)
		}
	}
	return nil
}

// isDash reports whether a text starts with the dash of a list, and not with a negative number or a word.
func isDash(text []byte) bool {
	return text[0] == '-' && (len(text) == 1 || bytes.IndexByte([]byte(blanks), text[1]) >= 0)
}

// item finishes the current item. line is the number of lines before the next one.
func (l *yamlList) item(line int) error {
	raw, err := yamlToJSON(l.text, l.line)
	l.text, l.line = l.text[:0], line
	if err != nil {
		return l.doc.place.errorf("item %d: %w", l.doc.items+1, err)
	}
	return l.doc.item(bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("[")), []byte("]")))
}

func (l *yamlList) end() error {
	if l.state == inItems {
		if err := l.item(0); err != nil {
			return err
		}
	}
	raw, err := yamlToJSON(l.head, l.before)
	if err != nil {
		return l.doc.place.errorf("around the items: %w", err)
	}
	if jsonType(raw) != "an object" {
		raw = []byte("{}") // so that the message says what is missing
	}
	return l.doc.decode(json.NewDecoder(bytes.NewReader(raw)))
}
