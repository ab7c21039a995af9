package document

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestBetweenReplacesOneTableAndNothingElse(t *testing.T) {
	const content = "a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n<!-- y:begin -->\n<!-- y:end -->\n"
	cases := map[string]struct {
		name, want string
		ok         bool
	}{
		"a table that was there": {"x", "a\n<!-- x:begin -->\nnew\n<!-- x:end -->\nb\n<!-- y:begin -->\n<!-- y:end -->\n", true},
		"an empty place":         {"y", "a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n<!-- y:begin -->\nnew\n<!-- y:end -->\n", true},
		"no such place":          {"z", "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, ok := between(content, tc.name, "new\n"); ok != tc.ok || ok && got != tc.want {
				t.Errorf("between() = %q, %v, want %q, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestTable(t *testing.T) {
	want := "| a | b |\n|---|---|\n| 1 | 2 |\n"
	if got := Table([]string{"a", "b"}, [][]string{{"1", "2"}}); got != want {
		t.Errorf("Table() = %q, want %q", got, want)
	}
}

func TestRowsAreWhatTableWrote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	want := [][]string{{"a", "", "c"}, {"1", "2", ""}}
	text := "x\n<!-- t:begin -->\n" + Table([]string{"h", "i", "j"}, want) + "<!-- t:end -->\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Rows(path, "t")
	if err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("Rows() = %q, %v, want %q", got, err, want)
	}
	if _, err := Rows(path, "u"); err == nil {
		t.Error("Rows() of a table that is not there succeeds")
	}
}
