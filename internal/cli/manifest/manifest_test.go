package manifest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"
)

// objects are the objects in a text, as "document.item kind name".
func objects(text string, whole int) ([]string, Stats, error) {
	var found []string
	r := &reader{
		file:   "in",
		whole:  whole,
		budget: &budget{r: strings.NewReader(text), limit: maxObjectBytes, left: maxObjectBytes},
		visit: func(o Object) error {
			found = append(found, fmt.Sprintf("%d.%d %s %s %s", o.Place.Document, o.Place.Item, o.APIVersion, o.Kind, o.Name))
			return nil
		},
	}
	err := r.read()
	return found, r.stats, err
}

func node(name string) string {
	return "apiVersion: v1\nkind: Node\nmetadata:\n  name: " + name + "\n"
}

func jsonNode(name string) string {
	return `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "` + name + `"}}`
}

// list is a list of Nodes as kubectl prints it: what it is stands after the items.
func list(indent string, names ...string) string {
	text := "apiVersion: v1\nitems:\n"
	for _, name := range names {
		text += indent + "- " + strings.ReplaceAll(strings.TrimSpace(node(name)), "\n", "\n"+indent+"  ") + "\n"
	}
	return text + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
}

func utf16(s string) string {
	out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(s)
	if err != nil {
		panic(err)
	}
	return out
}

// cutAlways and cutNever are sizes from which on YAML lists are read item by item.
const (
	cutAlways = 0
	cutNever  = 1 << 30
)

func TestEachFindsTheObjectsInAnyFormThatHoldsThem(t *testing.T) {
	cases := map[string]struct {
		text string
		want []string
	}{
		"one YAML document":                   {node("a"), []string{"1.0 v1 Node a"}},
		"several YAML documents":              {node("a") + "---\n" + node("b"), []string{"1.0 v1 Node a", "2.0 v1 Node b"}},
		"a marker before the first document":  {"---\n" + node("a") + "---\n" + node("b"), []string{"1.0 v1 Node a", "2.0 v1 Node b"}},
		"a comment before the first marker":   {"# nodes\n\n---\n" + node("a"), []string{"1.0 v1 Node a"}},
		"a directive before the first marker": {"%YAML 1.1\n---\n" + node("a"), []string{"1.0 v1 Node a"}},
		"a comment after a marker":            {"--- # first\n" + node("a") + "--- # second\n" + node("b"), []string{"1.0 v1 Node a", "2.0 v1 Node b"}},
		"an object on the line of its marker": {"--- {apiVersion: v1, kind: Node, metadata: {name: a}}\n--- " + jsonNode("b") + "\n", []string{"1.0 v1 Node a", "2.0 v1 Node b"}},
		"end markers":                         {node("a") + "...\n# between\n---\n" + node("b") + "...\n", []string{"1.0 v1 Node a", "2.0 v1 Node b"}},
		"no marker after an end marker":       {node("a") + "...\n" + node("b"), []string{"1.0 v1 Node a", "2.0 v1 Node b"}},
		"empty documents count":               {"---\n---\n# nothing\n---\n" + node("a") + "---\n", []string{"3.0 v1 Node a"}},
		"documents of null":                   {"null\n---\n~\n---\n" + node("a"), []string{"3.0 v1 Node a"}},
		"no line end at the end":              {strings.TrimSpace(node("a")), []string{"1.0 v1 Node a"}},
		"CRLF":                                {strings.ReplaceAll(node("a")+"---\n"+list("", "b"), "\n", "\r\n"), []string{"1.0 v1 Node a", "2.1 v1 Node b"}},
		"a byte order mark":                   {string(bom) + node("a"), []string{"1.0 v1 Node a"}},
		"a byte order mark before JSON":       {string(bom) + jsonNode("a"), []string{"1.0 v1 Node a"}},
		"files with byte order marks in a row": {
			string(bom) + node("a") + string(bom) + "---\n" + node("b"), []string{"1.0 v1 Node a", "2.0 v1 Node b"},
		},
		"UTF-16, as PowerShell redirects":  {utf16(list("", "a", "b")), []string{"1.1 v1 Node a", "1.2 v1 Node b"}},
		"a marker within a block of text":  {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: |\n    ---\n    kind: Node\n", []string{"1.0 v1 ConfigMap a"}},
		"a word that begins like a marker": {"apiVersion: v1\nkind: Node\n---x: y\nmetadata: {name: a}\n", []string{"1.0 v1 Node a"}},

		"a YAML list":                         {list("", "a", "b"), []string{"1.1 v1 Node a", "1.2 v1 Node b"}},
		"an indented YAML list":               {list("  ", "a", "b"), []string{"1.1 v1 Node a", "1.2 v1 Node b"}},
		"several YAML lists":                  {list("", "a") + "---\n" + list("    ", "b"), []string{"1.1 v1 Node a", "2.1 v1 Node b"}},
		"an empty YAML list":                  {"apiVersion: v1\nitems: []\nkind: List\n", nil},
		"a YAML list of null":                 {"apiVersion: v1\nitems:\nkind: List\n", nil},
		"a YAML list in flow style":           {"apiVersion: v1\nitems:\n  [{apiVersion: v1, kind: Node, metadata: {name: a}}]\nkind: List\n", []string{"1.1 v1 Node a"}},
		"a YAML sequence":                     {"- " + strings.ReplaceAll(node("a"), "\n", "\n  ") + "\n", []string{"1.1 v1 Node a"}},
		"comments and blank lines in a list":  {"apiVersion: v1\n# the\nitems: # nodes\n# items: none\n\n- apiVersion: v1\n# here\n  kind: Node\n\n  # name\n  metadata: {name: a}\n# next\n- apiVersion: v1\n  kind: Node\n  metadata: {name: b}\nkind: List\n", []string{"1.1 v1 Node a", "1.2 v1 Node b"}},
		"text with dashes within an item":     {"kind: List\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: a\n    annotations:\n      x: |\n        - no item\n        items:\n        - none\n      y: \"one\n        - two\"\n    finalizers:\n    - -1\n", []string{"1.1 v1 Node a"}},
		"an item that starts on its own line": {"kind: List\napiVersion: v1\nitems:\n-\n  apiVersion: v1\n  kind: Node\n  metadata: {name: a}\n", []string{"1.1 v1 Node a"}},
		"a NodeList whose items do not say what they are": {
			"apiVersion: v1\nkind: NodeList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n", []string{"1.1 v1 Node a", "1.2 v1 Node b"},
		},
		"a NodeList that says so at its end": {
			"items:\n- metadata: {name: a}\napiVersion: v1\nkind: NodeList\n", []string{"1.1 v1 Node a"},
		},
		"a list of another kind": {
			"apiVersion: resource.k8s.io/v1\nkind: ResourceSliceList\nitems:\n- metadata: {name: a}\n", []string{"1.1 resource.k8s.io/v1 ResourceSlice a"},
		},
		"lists within a list": {
			`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"NodeList","items":[{"metadata":{"name":"a"}}]},` + jsonNode("b") + `]}`,
			[]string{"1.1 v1 Node a", "1.2 v1 Node b"},
		},
		"aliases": {"apiVersion: v1\nkind: Node\nmetadata:\n  name: &n a\n  labels: {x: *n}\n", []string{"1.0 v1 Node a"}},

		"one JSON object":          {jsonNode("a"), []string{"1.0 v1 Node a"}},
		"JSON objects in a row":    {jsonNode("a") + jsonNode("b") + "\n\n" + jsonNode("c"), []string{"1.0 v1 Node a", "2.0 v1 Node b", "3.0 v1 Node c"}},
		"a JSON list":              {`{"apiVersion": "v1", "items": [` + jsonNode("a") + "," + jsonNode("b") + `], "kind": "List"}`, []string{"1.1 v1 Node a", "1.2 v1 Node b"}},
		"a NodeList of the API":    {`{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}}]}`, []string{"1.1 v1 Node a"}},
		"an empty JSON list":       {`{"apiVersion": "v1", "items": [], "kind": "List"}`, nil},
		"a JSON list of null":      {`{"kind":"NodeList","apiVersion":"v1","items":null}`, nil},
		"a JSON array":             {"[" + jsonNode("a") + "," + jsonNode("b") + "]", []string{"1.1 v1 Node a", "1.2 v1 Node b"}},
		"JSON with markers":        {"---\n" + jsonNode("a") + "\n---\n" + jsonNode("b") + "\n", []string{"1.0 v1 Node a", "2.0 v1 Node b"}},
		"JSON, then YAML":          {jsonNode("a") + "\n---\n" + node("b"), []string{"1.0 v1 Node a", "2.0 v1 Node b"}},
		"YAML, then JSON":          {node("a") + "---\n" + jsonNode("b"), []string{"1.0 v1 Node a", "2.0 v1 Node b"}},
		"blanks before JSON":       {"\n \t\n" + jsonNode("a"), []string{"1.0 v1 Node a"}},
		"YAML in flow style":       {"{apiVersion: v1, kind: Node, metadata: {name: a}}", []string{"1.0 v1 Node a"}},
		"a kind that has items":    {`{"apiVersion":"example.com/v1","kind":"Shop","metadata":{"name":"a"},"items":{"x":[1,{"y":2}]}}`, []string{"1.0 example.com/v1 Shop a"}},
		"a kind that ends in List": {`{"apiVersion":"example.com/v1","kind":"AllowList","metadata":{"name":"a"}}`, []string{"1.0 example.com/v1 AllowList a"}},
		"nothing":                  {"", nil},
		"blanks and comments":      {"\n# nothing\n  \n", nil},
	}
	for name, tc := range cases {
		for how, whole := range map[string]int{"in one piece": cutNever, "item by item": cutAlways} {
			t.Run(name+", read "+how, func(t *testing.T) {
				got, _, err := objects(tc.text, whole)
				if err != nil {
					t.Fatalf("Each() = %v", err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("objects (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestEachSaysWhereAndWhatIsWrong(t *testing.T) {
	cases := map[string]struct {
		text string
		want string // a part of the error
	}{
		"kind is missing in the third document": {
			node("a") + "---\n" + node("b") + "---\nmetadata:\n  name: c\n",
			`in: document 3: not a Kubernetes object: kind is missing; expected Nodes as "kubectl get nodes -o yaml" prints them`,
		},
		"apiVersion is missing":       {"kind: Node\n", `in: document 1: not a Kubernetes object: kind is "Node", apiVersion is missing`},
		"kind is a number":            {"apiVersion: v1\nkind: 5\n", "in: document 1: not a Kubernetes object: kind is a number, must be a string"},
		"metadata is a list":          {"apiVersion: v1\nkind: Pod\nmetadata: []\n", "in: document 1: not a Kubernetes object: metadata is a list, must be an object"},
		"an item without a kind":      {"apiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n", "in: document 1: item 1: not a Kubernetes object: kind is missing"},
		"an item that is text":        {"apiVersion: v1\nkind: List\nitems:\n- hello\n", "in: document 1: item 1: not a Kubernetes object: it is a string"},
		"an item that is null":        {"apiVersion: v1\nkind: List\nitems:\n-\n", "in: document 1: item 1: not a Kubernetes object: it is null"},
		"a JSON item that is a list":  {`{"apiVersion":"v1","kind":"List","items":[[]]}`, "in: document 1: item 1: not a Kubernetes object: it is a list"},
		"an array of bare objects":    {`[{"metadata":{"name":"a"}}]`, "in: document 1: item 1: not a Kubernetes object: kind is missing"},
		"items without a kind":        {"items:\n- metadata: {name: a}\n", "in: document 1: not a Kubernetes object: kind is missing"},
		"a list without items":        {"apiVersion: v1\nkind: NodeList\n", "in: document 1: a NodeList without items"},
		"items that are an object":    {"apiVersion: v1\nkind: List\nitems: {}\n", "in: document 1: items of a List must be a list"},
		"items that are a JSON text":  {`{"apiVersion":"v1","kind":"List","items":"none"}`, "in: document 1: items of a List must be a list"},
		"what kubectl get prints":     {"NAME   STATUS   ROLES    AGE   VERSION\nnuc1   Ready    <none>   69d   v1.32.5\n", "in: document 1: not a Kubernetes object: it is a string"},
		"a number":                    {"5\n", "in: document 1: not a Kubernetes object: it is a number"},
		"YAML that does not parse":    {node("a") + "---\nkind: Node\n  name: x\n", "in: document 2: not valid YAML: line 7: mapping values are not allowed"},
		"a tab as indentation":        {"kind: Node\nmetadata:\n\tname: a\n", "in: document 1: not valid YAML: line 3: found character that cannot start any token"},
		"a YAML key twice":            {"kind: Node\napiVersion: v1\nkind: Pod\n", `in: document 1: not valid YAML: line 3: key "kind" already set in map`},
		"a JSON key twice":            {`{"kind":"Node","apiVersion":"v1","kind":"Pod"}`, `in: document 1: the field "kind" is there twice`},
		"JSON items twice":            {`{"kind":"List","apiVersion":"v1","items":[],"items":[]}`, `in: document 1: the field "items" is there twice`},
		"a JSON key twice in an item": {`{"kind":"List","apiVersion":"v1","items":[{"kind":"Node","kind":"Pod"}]}`, `in: document 1: item 1: not a Kubernetes object: duplicate field "kind"`},
		"keys equal as text":          {"apiVersion: v1\nkind: Node\nmetadata: {labels: {1: a, \"1\": b}}\n", `in: document 1: not valid YAML: the key "1" is there twice`},
		"a key that is a list":        {"? [a]\n: b\n", "in: document 1: not valid YAML:"},
		"a key that is null":          {"~: b\n", "in: document 1: not valid YAML: a key that is neither"},
		"text after an end marker":    {node("a") + "... x\n" + node("b"), "in: document 1: not valid YAML:"},
		"an unknown alias":            {"kind: *x\n", "in: document 1: not valid YAML: unknown anchor 'x' referenced"},
		"not a number":                {"kind: .nan\n", "in: document 1: not valid JSON: json: unsupported value: NaN"},
		"a document hidden behind a lone carriage return": {
			strings.ReplaceAll(node("a")+"---\n"+node("b"), "\n", "\r"), "in: document 1: not valid YAML: a document marker after a line break",
		},
		"JSON that ends too early":      {`{"apiVersion": "v1", "items": [` + jsonNode("a") + ",", "in: document 1: not valid JSON: it ends too early"},
		"a JSON object that ends early": {jsonNode("a") + `{"apiVersion": "v1"`, "in: document 2: not valid JSON: it ends too early"},
		"JSON with a comma too many":    {`{"apiVersion": "v1",}`, "in: document 1: not valid JSON at byte"},
		"text after JSON":               {jsonNode("a") + "\nhello\n", "in: document 2: not a Kubernetes object: it is a string"},
		"binary data":                   {"\x1f\x8b\x08\x00\x00\x00\x00\x00\xff", "in: document 1: not valid YAML:"},
		"NUL bytes":                     {strings.Repeat("\x00", 100), "in: document 1: not valid YAML: control characters are not allowed"},
		"invalid UTF-8":                 {"kind: \xff\xfe\n", "in: document 1: not valid YAML:"},
		"lists nested without an end":   {strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 50) + strings.Repeat("]}", 50), "in: document 1: item 1: lists within lists, more than 4 deep"},
		"JSON nested without an end":    {`{"apiVersion":"v1","kind":"Node","spec":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}", "in: document 1:"},
		"YAML nested without an end":    {strings.Repeat("[", 20_000), "in: document 1: not valid YAML: exceeded max depth"},
		"aliases that multiply":         {bomb(), "in: document 1: not valid YAML: document contains excessive aliasing"},
		"a quoted text that looks like an item": {
			"kind: List\napiVersion: v1\nitems:\n- kind: \"a\n- b\n", "in: document 1:",
		},
		"fields between the items":      {"kind: List\napiVersion: v1\nitems:\n  - kind: Node\n    apiVersion: v1\n foo: bar\n", "in: document 1:"},
		"an item after the list's end":  {list("  ", "a") + "- kind: Node\n", "in: document 1:"},
		"YAML items twice":              {list("", "a") + "items:\n- kind: Node\n", "in: document 1:"},
		"a list within a sequence":      {"- a\nitems:\n- kind: Node\n  apiVersion: v1\n", "in: document 1:"},
		"an item with a broken line":    {"apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  apiVersion: v1\n- kind: Node\n  apiVersion: v1: v2\n", "not valid YAML: line 7: mapping values"},
		"a broken line after the items": {list("", "a", "b") + "x: y: z\n", "not valid YAML: line 14: mapping values"},
	}
	for name, tc := range cases {
		for how, whole := range map[string]int{"in one piece": cutNever, "item by item": cutAlways} {
			t.Run(name+", read "+how, func(t *testing.T) {
				_, _, err := objects(tc.text, whole)
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("Each() = %v, want an error with %q", err, tc.want)
				}
				if err != nil && (!strings.HasPrefix(err.Error(), "in: document ") || strings.Contains(err.Error(), "\n")) {
					t.Errorf("Each() = %q, want one line that names the file and the document", err)
				}
			})
		}
	}
}

// bomb is a small document that aliases make huge.
func bomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		text += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	return text
}

func TestStatsTellAnEmptyListFromNothing(t *testing.T) {
	cases := map[string]struct {
		text string
		want Stats
	}{
		"an empty List":             {"apiVersion: v1\nkind: List\nitems: []\n", Stats{Documents: 1, EmptyList: true}},
		"an empty NodeList":         {`{"kind":"NodeList","apiVersion":"v1","items":null}`, Stats{Documents: 1, EmptyList: true}},
		"an empty list of Pods":     {`{"kind":"PodList","apiVersion":"v1","items":[]}`, Stats{Documents: 1, EmptyLists: []string{"v1 Pod"}}},
		"a list of Pods":            {`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"p"}}]}`, Stats{Documents: 1}},
		"a List with an item":       {list("", "a"), Stats{Documents: 1}},
		"an empty one after others": {node("a") + "---\n---\napiVersion: v1\nkind: List\nitems: []\n", Stats{Documents: 3, EmptyList: true}},
		"an empty text":             {"", Stats{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, got, err := objects(tc.text, cutNever)
			if err != nil {
				t.Fatalf("Each() = %v", err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("stats (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachStopsAtInputWithoutAnEnd(t *testing.T) {
	for name, start := range map[string]string{
		"a YAML document":        "kind: Node\n",
		"a YAML line":            "kind: ",
		"an item of a YAML list": "apiVersion: v1\nkind: List\nitems:\n- kind: ",
		"a JSON text":            `{"kind": "`,
		"blanks":                 "",
	} {
		t.Run(name, func(t *testing.T) {
			fill := "x"
			if start == "" {
				fill = " "
			}
			r := &reader{file: "in", whole: cutAlways, visit: func(Object) error { return nil }}
			r.budget = &budget{r: io.MultiReader(strings.NewReader(start), endless(fill)), limit: 1 << 20, left: 1 << 20}
			if err := r.read(); !errors.Is(err, errTooLarge) {
				t.Errorf("Each() = %v, want %v", err, errTooLarge)
			}
		})
	}
}

type endless string

func (e endless) Read(p []byte) (int, error) { return copy(p, strings.Repeat(string(e), len(p))), nil }

func TestEachReadsAListOfAnySizeWithinTheLimitOfOneObject(t *testing.T) {
	names := make([]string, 5_000)
	for i := range names {
		names[i] = fmt.Sprintf("node-%d", i)
	}
	var items []string
	for _, n := range names {
		items = append(items, jsonNode(n))
	}
	for name, text := range map[string]string{
		"YAML": list("", names...),
		"JSON": `{"kind":"List","apiVersion":"v1","items":[` + strings.Join(items, ",") + "]}",
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			r := &reader{file: "in", whole: 1 << 10, visit: func(o Object) error {
				if want := fmt.Sprintf("in: document 1: item %d", n+1); o.Place.String() != want || o.Name != names[n] {
					t.Fatalf("got %s %s, want %s %s", o.Place, o.Name, want, names[n])
				}
				n++
				return nil
			}}
			r.budget = &budget{r: strings.NewReader(text), limit: 150_000, left: 150_000} // twice what is read ahead
			if err := r.read(); err != nil || n != len(names) {
				t.Errorf("got %d objects and %v, want %d", n, err, len(names))
			}
		})
	}
}

func TestEachPassesErrorsOn(t *testing.T) {
	stop := errors.New("stop")
	for name, text := range map[string]string{"YAML": node("a") + "---\n" + node("b"), "JSON": jsonNode("a") + jsonNode("b"), "a list": list("", "a", "b")} {
		t.Run("of the visitor in "+name, func(t *testing.T) {
			n := 0
			_, err := Each("in", strings.NewReader(text), func(Object) error { n++; return stop })
			if !errors.Is(err, stop) || n != 1 {
				t.Errorf("Each() = %v after %d objects, want %v after 1", err, n, stop)
			}
		})
		t.Run("of the reader in "+name, func(t *testing.T) {
			_, err := Each("in", io.MultiReader(strings.NewReader(text), iotest.ErrReader(stop)), func(Object) error { return nil })
			if !errors.Is(err, stop) || !strings.HasPrefix(err.Error(), "in: document ") {
				t.Errorf("Each() = %v, want %v at a document", err, stop)
			}
		})
	}
}

func TestAnAliasReachesAnotherItemUnlessTheTextIsLong(t *testing.T) {
	const text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: a, labels: &a {x: y}}}\n- {apiVersion: v1, kind: Node, metadata: {name: b, labels: *a}}\n"
	got, _, err := objects(text, cutNever)
	if diff := cmp.Diff([]string{"1.1 v1 Node a", "1.2 v1 Node b"}, got); diff != "" || err != nil {
		t.Errorf("in one piece: %v; objects (-want +got):\n%s", err, diff)
	}
	_, _, err = objects(text, cutAlways)
	if want := "in: document 1: item 2: not valid YAML: unknown anchor 'a' referenced"; err == nil || err.Error() != want {
		t.Errorf("item by item: %v, want %q", err, want)
	}
}

func TestEachReadsLinesLongerThanItsBuffer(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	text := "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: a, annotations: {x: " + long + "}}\n- apiVersion: v1\n  kind: Node\n  metadata: {name: b}\nkind: List # " + long + "\n"
	for _, whole := range []int{cutAlways, cutNever} {
		got, _, err := objects(text, whole)
		if diff := cmp.Diff([]string{"1.1 v1 Node a", "1.2 v1 Node b"}, got); diff != "" || err != nil {
			t.Errorf("whole %d: %v; objects (-want +got):\n%s", whole, err, diff)
		}
	}
}
