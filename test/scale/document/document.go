// Package document keeps measured tables in a Markdown file, between markers that name them.
package document

import (
	"fmt"
	"os"
	"strings"
)

// Table returns a Markdown table with its header.
func Table(header []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(header)
	b.WriteString(strings.Repeat("|---", len(header)) + "|\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

// Rows returns the cells of the table between <!-- name:begin --> and <!-- name:end --> of a file, without its header.
func Rows(path, name string) ([][]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	_, old, _, ok := cut(string(content), name)
	lines := strings.Split(strings.TrimSpace(old), "\n")
	if !ok || len(lines) < 2 {
		return nil, fmt.Errorf("%s has no table between the markers %s", path, name)
	}
	var rows [][]string
	for _, line := range lines[2:] {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows, nil
}

// Replace puts text between <!-- name:begin --> and <!-- name:end --> of a file.
func Replace(path, name, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read document: %w", err)
	}
	replaced, ok := between(string(content), name, text)
	if !ok {
		return fmt.Errorf("%s has no markers <!-- %s:begin --> and <!-- %s:end -->", path, name, name)
	}
	if err := os.WriteFile(path, []byte(replaced), 0o644); err != nil {
		return fmt.Errorf("write document: %w", err)
	}
	return nil
}

func between(content, name, text string) (string, bool) {
	head, _, tail, ok := cut(content, name)
	return head + "\n" + strings.TrimSpace(text) + "\n" + tail, ok
}

// cut returns what is before, between and after the markers of a name; the markers are with what is outside.
func cut(content, name string) (head, middle, tail string, ok bool) {
	begin, end := "<!-- "+name+":begin -->", "<!-- "+name+":end -->"
	head, rest, ok := strings.Cut(content, begin)
	if !ok {
		return "", "", "", false
	}
	middle, tail, ok = strings.Cut(rest, end)
	return head + begin, middle, end + tail, ok
}
