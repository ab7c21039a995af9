package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzEach checks that no text makes Each panic or name no place, and that a list that is read item by item holds the
// objects that it holds when it is read in one piece.
func FuzzEach(f *testing.F) {
	for _, seed := range []string{
		node("a") + "---\n" + node("b"), list("", "a", "b"), list("  ", "a", "b"), jsonNode("a") + jsonNode("b"),
		"apiVersion: v1\nkind: List\nitems:\n- metadata: {name: \"a\n- b\"}\n",
		"items:\n# c\n-\n  kind: Node\n  x: |\n   - a\n\n- kind: Node\nkind: NodeList\napiVersion: v1\n",
		`{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`,
		"%YAML 1.1\n--- {a: b}\n...\n--- &x [*x]\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole, _, wholeErr := objects(text, cutNever)
		cut, _, cutErr := objects(text, cutAlways)
		for _, err := range []error{wholeErr, cutErr} {
			if err != nil && !strings.HasPrefix(err.Error(), "in: document ") {
				t.Errorf("%q does not name the document", err)
			}
		}
		if wholeErr == nil && cutErr == nil {
			if diff := cmp.Diff(whole, cut); diff != "" {
				t.Errorf("objects read in one piece and item by item (-whole +cut):\n%s", diff)
			}
		}
		if wholeErr != nil && cutErr == nil {
			t.Errorf("item by item there is no error, in one piece: %v", wholeErr)
		}
	})
}
