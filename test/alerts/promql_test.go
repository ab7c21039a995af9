package alerts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// usage is what a PromQL expression uses.
type usage struct {
	Selectors []selector
	// Groupings are the labels of by, without, on, ignoring, group_left and group_right.
	Groupings []string
}

type selector struct {
	Metric   string
	Matchers []matcher
}

type matcher struct{ Label, Op, Value string }

// values are the alternatives that a matcher names.
func (m matcher) values() []string {
	if strings.HasSuffix(m.Op, "~") {
		return strings.Split(m.Value, "|")
	}
	return []string{m.Value}
}

var (
	aggregators = strings.Fields("sum min max avg group count stddev stdvar topk bottomk quantile count_values limitk limit_ratio")
	operators   = strings.Fields("and or unless bool offset atan2 inf nan")
	modifiers   = strings.Fields("by without on ignoring group_left group_right")
)

// parsePromQL finds what an expression uses. It is no parser: promtool says whether the rules are PromQL at all, and a
// Prometheus in our go.mod would be a hundred modules.
func parsePromQL(expr string) (usage, error) {
	p := &promQL{rest: expr}
	for p.skipSpace(); p.rest != "" && p.err == nil; p.skipSpace() {
		switch c := p.rest[0]; {
		case isLetter(c):
			p.word()
		case c >= '0' && c <= '9' || c == '.':
			p.take(func(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '.' })
		case c == '[':
			p.until(']')
		case c == '"' || c == '\'' || c == '`':
			p.quoted()
		case c == '{':
			p.fail("a selector without a metric")
		default:
			p.rest = p.rest[1:]
		}
	}
	return p.usage, p.err
}

type promQL struct {
	rest string
	usage
	err error
}

func isLetter(c byte) bool {
	return c == '_' || c == ':' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isWord(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }

func (p *promQL) fail(what string) {
	p.err = fmt.Errorf("%s at %q", what, p.rest)
	p.rest = ""
}

func (p *promQL) skipSpace() { p.rest = strings.TrimLeft(p.rest, " \t\n") }

// take takes the bytes that belong.
func (p *promQL) take(belongs func(byte) bool) string {
	n := 0
	for n < len(p.rest) && belongs(p.rest[n]) {
		n++
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	p.skipSpace()
	return word
}

// next takes a byte if it comes next.
func (p *promQL) next(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	p.skipSpace()
	return true
}

// until takes what is up to a byte, and the byte.
func (p *promQL) until(c byte) string {
	inside, rest, found := strings.Cut(p.rest[1:], string(c))
	if !found {
		p.fail("no end")
		return ""
	}
	p.rest = rest
	return inside
}

// quoted takes a string without escapes, which nothing here needs.
func (p *promQL) quoted() string {
	if p.rest == "" || !strings.ContainsRune("\"'`", rune(p.rest[0])) {
		p.fail("no string")
		return ""
	}
	return p.until(p.rest[0])
}

func (p *promQL) word() {
	word := p.take(isWord)
	switch {
	case slices.Contains(modifiers, word):
		if strings.HasPrefix(p.rest, "(") {
			for l := range strings.SplitSeq(p.until(')'), ",") {
				if l = strings.TrimSpace(l); l != "" {
					p.Groupings = append(p.Groupings, l)
				}
			}
		}
	case slices.Contains(operators, word), slices.Contains(aggregators, word), strings.HasPrefix(p.rest, "("):
	default:
		s := selector{Metric: word}
		if p.next('{') {
			s.Matchers = p.matchers()
		}
		p.Selectors = append(p.Selectors, s)
	}
}

func (p *promQL) matchers() (out []matcher) {
	for p.err == nil && !p.next('}') {
		m := matcher{Label: p.take(isWord), Op: p.take(func(c byte) bool { return strings.IndexByte("=!~", c) >= 0 })}
		if m.Label == "" || m.Op == "" {
			p.fail("no matcher")
			break
		}
		m.Value = p.quoted()
		p.skipSpace()
		p.next(',')
		out = append(out, m)
	}
	return out
}

func TestPromQLIsTakenApart(t *testing.T) {
	cases := map[string]struct {
		expr string
		want usage
		err  bool
	}{
		"a metric alone": {expr: "up", want: usage{Selectors: []selector{{Metric: "up"}}}},
		"a function, a range, an offset and a comparison": {
			expr: `rate(a_total{x="1", y=~"b|c"}[5m] offset 1h) > bool 0.5`,
			want: usage{Selectors: []selector{{"a_total", []matcher{{"x", "=", "1"}, {"y", "=~", "b|c"}}}}},
		},
		"groupings before and after, and matching": {
			expr: "sum by (a, b) (x) / on (c) group_left (d) max(y) without (e) unless on () z",
			want: usage{Selectors: []selector{{Metric: "x"}, {Metric: "y"}, {Metric: "z"}}, Groupings: []string{"a", "b", "c", "d", "e"}},
		},
		"a subquery and a variable of Grafana": {
			expr: `max_over_time(sum(x)[5m:$__rate_interval]) or vector(0) and y{p="$inventory"}`,
			want: usage{Selectors: []selector{{Metric: "x"}, {"y", []matcher{{"p", "=", "$inventory"}}}}},
		},
		"a string that looks like a metric": {
			expr: `label_replace(x, "up", "$1", 'a', "(.*){")`,
			want: usage{Selectors: []selector{{Metric: "x"}}},
		},
		"numbers":                         {expr: "1e3 + .5 * 0x1F - 5m"},
		"a selector without a metric":     {expr: `{a="b"}`, err: true},
		"a selector that does not end":    {expr: `x{a="b"`, err: true},
		"a string that does not end":      {expr: `x{a="b}`, err: true},
		"a matcher without a value":       {expr: `x{a=}`, err: true},
		"a range that does not end":       {expr: `x[5m`, err: true},
		"a list of labels without an end": {expr: `sum by (a`, err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parsePromQL(tc.expr)
			if (err != nil) != tc.err {
				t.Fatalf("parsePromQL() error = %v, want one: %v", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("parsePromQL() (-want +got):\n%s", diff)
			}
		})
	}
}
