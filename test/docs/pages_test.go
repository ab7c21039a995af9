package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryDecisionIsInTheIndex(t *testing.T) {
	index := read(t, architecture)
	records, err := filepath.Glob(filepath.Join(root, "docs/decisions/*.md"))
	if err != nil || len(records) == 0 {
		t.Fatalf("found %d records: %v", len(records), err)
	}
	heading := regexp.MustCompile(`\A# (\d{4})\. (.+)\n\nDate: \d{4}-\d\d-\d\d\n`)
	for _, file := range records {
		name := filepath.Base(file)
		m := heading.FindStringSubmatch(read(t, "docs/decisions/"+name))
		if m == nil || !strings.HasPrefix(name, m[1]+"-") {
			t.Errorf("docs/decisions/%s does not begin with its number, its title and its date", name)
			continue
		}
		if row := "| [" + m[1] + "](decisions/" + name + ") | " + m[2] + " |"; !strings.Contains(index, row) {
			t.Errorf("%s lacks the row %s", architecture, row)
		}
	}
}

// Both themes of a picture show the same: they may differ only in colors.
func TestPicturesDifferOnlyInColors(t *testing.T) {
	light, err := filepath.Glob(filepath.Join(root, "docs/images/*-light.svg"))
	if err != nil || len(light) == 0 {
		t.Fatalf("found %d pictures: %v", len(light), err)
	}
	color := regexp.MustCompile(`#[0-9a-f]{6}\b`)
	for _, file := range light {
		name := "docs/images/" + filepath.Base(file)
		dark := strings.Replace(name, "-light.", "-dark.", 1)
		if diff := cmp.Diff(color.ReplaceAllString(read(t, name), ""), color.ReplaceAllString(read(t, dark), "")); diff != "" {
			t.Errorf("%s and %s differ in more than colors (-light +dark):\n%s", name, dark, diff)
		}
	}
}
