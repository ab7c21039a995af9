package document

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Series is what was measured of one program.
type Series struct {
	Name string
	// Note is said beside the name; empty: nothing.
	Note string
	// Class is how it is drawn: main, light or other.
	Class  string
	Points []Point
}

// Point is a measured value.
type Point struct{ X, Y float64 }

// Theme is the colors of a picture.
type Theme struct{ text, sub, grid, main, light, other string }

// The themes of a page.
var (
	Light = Theme{"#1f2328", "#59636e", "#d1d9e0", "#0969da", "#0969da", "#bc4c00"}
	Dark  = Theme{"#f0f6fc", "#9198a1", "#3d444d", "#4493f8", "#4493f8", "#f0883e"}
)

// The plot area, in a picture of 800 by 340; both axes are logarithmic.
const left, right, top, bottom = 70.0, 620.0, 50.0, 290.0

// Plot draws memory in MiB against the number of nodes as SVG.
func Plot(theme Theme, series []Series) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 340" width="800" height="340" role="img" aria-label="Memory in MiB against the number of nodes">
<style>
  text { font: 12px -apple-system, BlinkMacSystemFont, "Segoe UI", "Noto Sans", "DejaVu Sans", Helvetica, Arial, sans-serif; fill: %s }
  .sub { fill: %s } .grid { stroke: %s } path { fill: none; stroke-width: 2 } .bold { font-weight: 600 }
  path.main { stroke: %s } circle.main { fill: %[4]s } path.light { stroke: %s; stroke-dasharray: 2 4 } circle.light { fill: %[5]s; opacity: .55 } path.other { stroke: %s } circle.other { fill: %[6]s }
</style>
<text class="sub" x="%.0f" y="24">resident memory, MiB (both axes are logarithmic)</text>
`, theme.text, theme.sub, theme.grid, theme.main, theme.light, theme.other, left)
	for _, v := range []float64{10, 100, 1_000, 10_000} {
		fmt.Fprintf(&b, `<line class="grid" x1="%.0f" x2="%.0f" y1="%[3]s" y2="%[3]s"/><text class="sub" x="%.0f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			left, right, number(yOf(v)), left-8, yOf(v)+4, thousands(v))
	}
	for _, v := range []float64{10, 100, 1_000, 5_000} {
		fmt.Fprintf(&b, `<text class="sub" x="%.1f" y="%.0f" text-anchor="middle">%s</text>`+"\n", xOf(v), bottom+20, thousands(v))
	}
	fmt.Fprintf(&b, `<text class="sub" x="%.0f" y="%.0f" text-anchor="middle">nodes</text>`+"\n", (left+right)/2, bottom+42)
	for _, s := range series {
		s.draw(&b)
	}
	return b.String() + "</svg>\n"
}

func (s Series) draw(b *strings.Builder) {
	points := slices.SortedFunc(slices.Values(s.Points), func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	if len(points) == 0 {
		return
	}
	var path []string
	for _, p := range points {
		path = append(path, number(xOf(p.X))+" "+number(yOf(p.Y)))
	}
	if len(path) > 1 {
		fmt.Fprintf(b, `<path class="%s" d="M%s"/>`+"\n", s.Class, strings.Join(path, " L"))
	}
	below := 18.0
	if s.Class != "main" {
		below = -9
	}
	for _, p := range points {
		fmt.Fprintf(b, `<circle class="%s" cx="%s" cy="%s" r="4"/><text x="%[2]s" y="%[4]s" text-anchor="middle">%s</text>`+"\n",
			s.Class, number(xOf(p.X)), number(yOf(p.Y)), number(yOf(p.Y)+below), thousands(math.Round(p.Y)))
	}
	last := points[len(points)-1]
	x, y := xOf(last.X)+32, yOf(last.Y)+4+below/3
	fmt.Fprintf(b, `<text class="bold" x="%.1f" y="%.1f">%s</text>`+"\n", x, y, s.Name)
	if s.Note != "" {
		fmt.Fprintf(b, `<text class="sub" x="%.1f" y="%.1f">%s</text>`+"\n", x, y+16, s.Note)
	}
}

func xOf(v float64) float64 {
	return left + 24 + (right-left-48)*math.Log10(v/10)/math.Log10(5_000/10)
}

func yOf(v float64) float64 { return bottom - (bottom-top)*math.Log10(v/10)/3 }

func number(v float64) string { return fmt.Sprintf("%.1f", v) }

// thousands writes a whole number with a comma before every three digits.
func thousands(v float64) string {
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
