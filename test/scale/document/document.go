// Package document keeps measured tables in a Markdown file, between markers that name them.
package document

import (
	"fmt"
	"os"
	"strings"
)

// Table is a Markdown table with its header.
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
	begin, end := "<!-- "+name+":begin -->", "<!-- "+name+":end -->"
	head, rest, ok := strings.Cut(content, begin)
	if !ok {
		return "", false
	}
	_, tail, ok := strings.Cut(rest, end)
	if !ok {
		return "", false
	}
	return head + begin + "\n" + strings.TrimSpace(text) + "\n" + end + tail, true
}
