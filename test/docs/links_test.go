package docs

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repository is its top folder.
const repository = "../.."

var (
	// linkTarget matches what a link or an image points to, in Markdown or in HTML.
	linkTarget = regexp.MustCompile(`\]\(([^)\s]+)(?:\s+"[^"]*")?\)|(?:href|src|srcset)="([^"]+)"`)
	// inlineCode and codeBlock are what must not be searched for links.
	inlineCode  = regexp.MustCompile("`[^`\n]*`")
	codeBlock   = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$")
	headingLine = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	notAnchor   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	linkText    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

func TestLinksLeadSomewhere(t *testing.T) {
	links := 0
	for _, page := range markdownFiles(t) {
		text := inlineCode.ReplaceAllString(codeBlock.ReplaceAllString(readPage(t, page), ""), "")
		for _, m := range linkTarget.FindAllStringSubmatch(text, -1) {
			target, err := url.Parse(m[1] + m[2])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if target.Scheme != "" {
				continue // another site
			}
			links++
			checkLink(t, page, target)
		}
	}
	if links < 100 {
		t.Errorf("found %d links within the repository: are they read right?", links)
	}
}

// checkLink checks that the file that a link points to exists, and the heading, if it names one.
func checkLink(t *testing.T, page string, target *url.URL) {
	t.Helper()
	file := page
	if target.Path != "" {
		file = filepath.Join(filepath.Dir(page), target.Path)
	}
	if strings.HasPrefix(file, "..") {
		return // a page of the site that shows the repository
	}
	info, err := os.Stat(filepath.Join(repository, file))
	if err != nil {
		t.Errorf("%s links to %s, which does not exist", page, target)
		return
	}
	if target.Fragment == "" || info.IsDir() || !strings.HasSuffix(file, ".md") {
		return
	}
	if !slices.Contains(anchors(readPage(t, file)), target.Fragment) {
		t.Errorf("%s links to %s, which has no such heading", page, target)
	}
}

// anchors returns the names by which the headings of a page can be linked to on GitHub.
func anchors(text string) []string {
	var names []string
	for _, m := range headingLine.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		title := strings.ToLower(linkText.ReplaceAllString(m[1], "$1"))
		names = append(names, strings.ReplaceAll(notAnchor.ReplaceAllString(title, ""), " ", "-"))
	}
	return names
}

// markdownFiles returns the paths of all Markdown files of the repository, from its top folder.
func markdownFiles(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "bin"}, d.Name()) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			relative, err := filepath.Rel(repository, path)
			if err != nil {
				return err
			}
			paths = append(paths, relative)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func readPage(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
