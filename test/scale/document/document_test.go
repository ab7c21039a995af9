package document

import "testing"

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
			if got, ok := between(content, tc.name, "new\n"); got != tc.want || ok != tc.ok {
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
