package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// yamlDocuments reads YAML documents to the end of the text, line by line: a document marker is the one thing of YAML
// that can be told without a parser.
func (r *reader) yamlDocuments(text *bufio.Reader) error {
	s := &yamlStream{r: r}
	lineStart := true
	for {
		part, err := text.ReadSlice('\n')
		if addErr := s.take(part, lineStart); addErr != nil {
			return addErr
		}
		lineStart = !errors.Is(err, bufio.ErrBufferFull) // a long line comes in parts
		switch {
		case err == nil || !lineStart:
		case errors.Is(err, io.EOF):
			return s.end()
		default:
			return s.place().errorf("%w", err)
		}
	}
}

// yamlStream cuts a stream of YAML into documents.
type yamlStream struct {
	r *reader

	text    []byte // of the current document, what is not parsed yet
	line    int    // lines before the text
	lines   int    // lines read
	opened  bool   // by "---", so that the document counts even when it is empty
	content bool   // the document has more than blanks, comments and directives
	list    *yamlList
	whole   bool // the document is no list that can be cut
}

const (
	startMarker = "---"
	endMarker   = "..."
)

var bom = []byte("\xEF\xBB\xBF")

// take takes the next line, or a further part of it.
func (s *yamlStream) take(line []byte, lineStart bool) error {
	text := line
	if lineStart {
		line = bytes.TrimPrefix(line, bom) // within the text too: files were put one after the other
		marker := markerOf(line)
		if err := s.mark(marker); err != nil || marker == endMarker {
			return err
		}
		text = line[len(marker):]
	}
	s.content = s.content || hasContent(text)
	if s.list != nil {
		return s.list.take(line, lineStart, s.lines)
	}
	s.text = append(s.text, line...)
	if len(s.text) > s.r.whole && !s.whole && bytes.HasSuffix(line, []byte("\n")) {
		return s.cut()
	}
	return nil
}

// mark begins a line with the marker, which may be none.
func (s *yamlStream) mark(marker string) error {
	if marker == endMarker || marker == startMarker && (s.opened || s.content) {
		if err := s.end(); err != nil {
			return err
		}
	}
	s.lines++
	if marker == endMarker {
		s.line = s.lines
	}
	s.opened = s.opened || marker == startMarker
	return nil
}

// cut goes over to reading the document item by item, if it is a list in block style.
func (s *yamlStream) cut() error {
	s.whole = true
	if !hasItemsLine(s.text) {
		return nil
	}
	s.list = &yamlList{doc: s.r.newDocument(s.r.next()), before: s.line}
	n := s.line
	for line := range bytes.Lines(s.text) {
		n++
		if err := s.list.take(line, true, n); err != nil {
			return err
		}
	}
	s.text = nil
	return nil
}

// end finishes the current document, if there is one.
func (s *yamlStream) end() error {
	defer func() { *s = yamlStream{r: s.r, line: s.lines, lines: s.lines} }()
	switch {
	case s.list != nil:
		return s.list.end()
	case !s.opened && !s.content:
		return nil
	}
	d := s.r.newDocument(s.r.next())
	if !s.content {
		return nil
	}
	raw, err := yamlToJSON(s.text, s.line)
	if err != nil {
		return d.place.errorf("%w", err)
	}
	return d.decode(json.NewDecoder(bytes.NewReader(raw)))
}

// place is that of the current document.
func (s *yamlStream) place() Place {
	if s.list != nil {
		return s.list.doc.place
	}
	return s.r.next()
}

// markerOf is the document marker at the start of a line, if any.
func markerOf(line []byte) string {
	if len(line) < 3 {
		return ""
	}
	marker := string(line[:3])
	if marker != startMarker && marker != endMarker {
		return ""
	}
	rest := line[3:]
	if len(rest) > 0 && bytes.IndexByte([]byte(blanks), rest[0]) < 0 {
		return ""
	}
	if marker == endMarker && hasContent(rest) { // not allowed; the parser says so
		return ""
	}
	return marker
}

// hasContent reports whether a line has more than blanks and a comment. A directive belongs to the marker after it.
func hasContent(line []byte) bool {
	if bytes.HasPrefix(line, []byte("%")) {
		return false
	}
	line = bytes.TrimLeft(line, blanks)
	return len(line) > 0 && line[0] != '#'
}
