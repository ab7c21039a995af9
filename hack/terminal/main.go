// Command terminal draws what the demo has printed as pictures of a terminal, NAME-light.svg and NAME-dark.svg:
//
//	DEMO_ONCE=1 make -s demo | go run ./hack/terminal -keep '^Loading|posts again|get (gpuinventory|configmap)' docs/images/demo
package main

import (
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

const charWidth, lineHeight, margin = 7.2, 17, 16
const document = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img" aria-label="What the demo prints">
<style>
  rect { fill: %[3]s; stroke: %[4]s }
  text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: %[5]s }
  .note { fill: %[6]s } .command { font-weight: bold } .good { fill: %[7]s } .bad { fill: %[8]s }
</style>
<rect x="0.5" y="0.5" width="%[9]d" height="%[10]d" rx="8"/>
%[11]s</svg>
`

var (
	keep   = flag.String("keep", ".", "regular expression for the headings of the parts to draw")
	colors = map[string][]any{ // background, border, text, note, good, bad
		"light": {"#f6f8fa", "#d1d9e0", "#1f2328", "#59636e", "#116329", "#a40e26"},
		"dark":  {"#151b23", "#3d444d", "#e6edf3", "#9198a1", "#4ac26b", "#ff8182"},
	}
	good = regexp.MustCompile(`ready=true|\bTrue\b`)
	bad  = regexp.MustCompile(`ready=false|\bFalse\b`)
)

func main() {
	flag.Parse()
	output, err := io.ReadAll(os.Stdin)
	text, width, height := draw(string(output), regexp.MustCompile(*keep))
	for theme, color := range colors {
		picture := fmt.Appendf(nil, document, append(append([]any{width, height}, color...), width-1, height-1, text)...)
		err = errors.Join(err, os.WriteFile(flag.Arg(0)+"-"+theme+".svg", picture, 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "terminal:", err)
		os.Exit(1)
	}
}

// draw returns the parts whose heading matches as SVG text, with the size of the picture.
func draw(output string, keep *regexp.Regexp) (text string, width, height int) {
	var b strings.Builder
	columns, y := 0, margin
	line := func(class, s string) {
		y += lineHeight
		columns = max(columns, utf8.RuneCountInString(s))
		marked := good.ReplaceAllString(html.EscapeString(s), `<tspan class="good">$0</tspan>`)
		marked = bad.ReplaceAllString(marked, `<tspan class="bad">$0</tspan>`)
		fmt.Fprintf(&b, `<text class="%s" x="%d" y="%d" xml:space="preserve" textLength="%.1f">%s</text>`+"\n", class, margin, y-4, charWidth*float64(utf8.RuneCountInString(s)), marked)
	}
	for _, part := range strings.Split(output, "\n==> ")[1:] {
		heading, body, _ := strings.Cut(strings.TrimRight(part, "\n"), "\n")
		if !keep.MatchString(heading) {
			continue
		}
		if strings.HasPrefix(heading, "$ ") {
			line("command", heading)
		} else {
			line("note", "# "+heading)
		}
		for s := range strings.Lines(body) {
			line("output", strings.TrimRight(s, " \n"))
		}
		y += lineHeight / 2
	}
	return b.String(), int(charWidth*float64(columns)) + 2*margin, y + margin/2
}
