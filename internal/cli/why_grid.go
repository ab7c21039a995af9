package cli

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// textTable is a table whose cells may have several lines.
type textTable struct {
	// widths are those of all columns but the last.
	widths []int
	rows   [][]block
}

// block is one cell of a textTable.
type block struct {
	text   []string
	colour colour
}

func (t *textTable) add(row ...block) { t.rows = append(t.rows, row) }

func (t *textTable) write(out *bytes.Buffer, coloured bool) {
	for _, row := range t.rows {
		height := 0
		for _, b := range row {
			height = max(height, len(b.text))
		}
		for i := range height {
			t.writeLine(out, row, i, coloured)
		}
	}
}

// writeLine prints one line of a row, without blanks at its end.
func (t *textTable) writeLine(out *bytes.Buffer, row []block, i int, coloured bool) {
	last := len(row) - 1
	for i >= len(row[last].text) {
		last--
	}
	for c, b := range row[:last+1] {
		var text string
		if i < len(b.text) {
			text = b.text[i]
		}
		out.WriteString(cell{text, b.colour}.render(coloured))
		if c < last {
			out.WriteString(strings.Repeat(" ", t.widths[c]-utf8.RuneCountInString(text)+gap))
		}
	}
	out.WriteByte('\n')
}

// fold breaks a text into lines of at most width characters: between words, and inside one that is longer than a line. Every
// line starts with the blanks that the text starts with.
func fold(s string, width int) []string {
	indent := s[:len(s)-len(strings.TrimLeft(s, " "))]
	width -= len(indent)
	var words []string
	for word := range strings.FieldsSeq(s) {
		for part := range slices.Chunk([]rune(word), width) {
			words = append(words, string(part))
		}
	}
	lines := wrap(strings.Join(words, " "), width)
	for i := range lines {
		lines[i] = indent + lines[i]
	}
	return lines
}
