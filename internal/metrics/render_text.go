package metrics

import (
	"strconv"
	"strings"
)

// escapeValue escapes a label value for the text format.
var escapeValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// renderText turns samples into the text exposition format, version 0.0.4. It returns one text per gauge, with its help and
// type.
func renderText(b *builder) [][]byte {
	for _, l := range b.interned {
		l.text = l.name + `="` + escapeValue.Replace(l.value) + `"`
	}
	// To let texts of a megabyte grow would cost as much as to write them.
	sizes := map[*gauge]int{}
	for s := range b.all {
		sizes[s.gauge] += sampleSize(s)
	}
	texts := make(map[*gauge][]byte, len(sizes))
	for g, size := range sizes {
		head := "# HELP " + g.Name + " " + g.Help + "\n# TYPE " + g.Name + " gauge\n"
		texts[g] = append(make([]byte, 0, len(head)+size), head...)
	}
	for s := range b.all {
		texts[s.gauge] = appendSample(texts[s.gauge], s)
	}
	out := make([][]byte, 0, len(texts))
	for _, g := range inventoryGauges {
		if text := texts[g]; text != nil {
			out = append(out, text)
		}
	}
	return out
}

func appendSample(text []byte, s *sample) []byte {
	text = append(text, s.gauge.Name...)
	separator := byte('{')
	for _, l := range s.labels[:len(s.gauge.Labels)] {
		text = append(append(text, separator), l.text...)
		separator = ','
	}
	text = append(text, "} "...)
	text = strconv.AppendFloat(text, s.value, 'g', -1, 64)
	return append(text, '\n')
}

// sampleSize estimates how many bytes appendSample appends.
func sampleSize(s *sample) int {
	const value = 8
	size := len(s.gauge.Name) + len("} \n") + value
	for _, l := range s.labels[:len(s.gauge.Labels)] {
		size += len(l.text) + len(",")
	}
	return size
}
