package cli

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// unknownMark stands for what is not known.
const unknownMark = "?"

// printable makes a text that came from outside safe for a terminal: one line, and no control characters, which could
// hide or forge what the reader sees.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\r', r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		default:
			return r
		}
	}, s)
}

// wrap breaks a text into lines of at most width characters. A longer word stays whole.
func wrap(s string, width int) (lines []string) {
	line, used := strings.Builder{}, 0
	for word := range strings.FieldsSeq(s) {
		n := utf8.RuneCountInString(word)
		if used > 0 && used+1+n > width {
			lines = append(lines, line.String())
			line.Reset()
			used = 0
		}
		if used > 0 {
			line.WriteByte(' ')
			used++
		}
		line.WriteString(word)
		used += n
	}
	if used > 0 {
		lines = append(lines, line.String())
	}
	return lines
}

// colour is an SGR parameter. It only repeats what the text says.
type colour string

const (
	plain  colour = ""
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
	bold   colour = "1"
)

func (c colour) paint(s string) string {
	if c == plain || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// terminal reports whether w is a terminal, and its width.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	return width, err == nil && width > 0
}

// colourWanted follows no-color.org: any value of NO_COLOR but an empty one turns colour off.
func colourWanted(getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}
