package cli

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// gap is the number of blanks between two columns.
const gap = 2

// cell is one field of a table.
type cell struct {
	text   string
	colour colour
}

// grid is a table with a header. A row may have lines below it that span all columns.
type grid struct {
	header []string
	rows   []gridRow
}

type gridRow struct {
	cells []cell
	below []cell
}

// shorten cuts a text that is longer than width characters, and reports whether it did.
func shorten(s string, width int) (string, bool) {
	runes := []rune(s)
	if len(runes) <= width {
		return s, false
	}
	return string(runes[:width-1]) + "…", true
}

func (g *grid) widths() []int {
	w := make([]int, len(g.header))
	for c, h := range g.header {
		w[c] = utf8.RuneCountInString(h)
		for _, r := range g.rows {
			w[c] = max(w[c], utf8.RuneCountInString(r.cells[c].text))
		}
	}
	return w
}

// fitting returns how many columns from the left fit into width, but never fewer than least.
func (g *grid) fitting(width, least int) int {
	used := -gap
	for c, w := range g.widths() {
		used += w + gap
		if c >= least && used > width {
			return c
		}
	}
	return len(g.header)
}

func (g *grid) write(out *bytes.Buffer, columns int, coloured bool) {
	widths := g.widths()[:columns]
	header := make([]cell, columns)
	for c := range header {
		header[c] = cell{g.header[c], bold}
	}
	for _, r := range slices.Concat([]gridRow{{cells: header}}, g.rows) {
		for c, cell := range r.cells[:columns] {
			out.WriteString(cell.render(coloured))
			if c < columns-1 {
				out.WriteString(strings.Repeat(" ", widths[c]-utf8.RuneCountInString(cell.text)+gap))
			}
		}
		out.WriteByte('\n')
		for _, line := range r.below {
			out.WriteString(strings.Repeat(" ", gap) + line.render(coloured) + "\n")
		}
	}
}

func (c cell) render(coloured bool) string {
	if !coloured {
		return c.text
	}
	return c.colour.paint(c.text)
}
