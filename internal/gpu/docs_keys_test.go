package gpu

import (
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// keyTable is a table of labels or annotations: the first one under a heading of a page.
type keyTable struct{ page, heading string }

var keyTables = []keyTable{
	{"nvidia.md", "GPU feature discovery"}, {"nvidia.md", "MIG"}, {"nvidia.md", "GPU Operator"}, {"amd.md", "Labels"},
	{"intel.md", "Labels"}, {"nfd.md", "Labels"}, {"hami.md", "Annotations"}, {"clouds.md", "Machine types"},
	{"clouds.md", "Other platforms"},
}

// rows returns the rows of the table.
func (k keyTable) rows(t *testing.T) [][]string {
	t.Helper()
	return docTable(t, k.page, k.heading, 0)
}

func TestEveryTableOfKeysIsTested(t *testing.T) {
	for _, page := range docPages(t) {
		for heading, tables := range docTables(t, page) {
			for n, rows := range tables {
				// Tables of keys are the only ones with four columns and a name that has a domain, DRA drivers aside.
				if len(rows[0]) == 4 && strings.Contains(rows[0][0], "/") && !slices.Contains(keyTables, keyTable{page, heading}) {
					t.Errorf("%s: nothing tests table %d under %q", page, n, heading)
				}
			}
		}
	}
}

// placeholders are what stands in documented keys, and an example of each.
var placeholders = strings.NewReplacer("<operand>", "driver", "<profile>", "1g.10gb", "<product>", "AMD_X", "<id>", "74a1",
	"<class>", "0380", "<fields>", "0302_10de", "<vendor>", "mlu")

func TestEveryDocumentedKeyIsEvidence(t *testing.T) {
	for _, table := range keyTables {
		t.Run(table.page+" "+table.heading, func(t *testing.T) {
			n := node()
			h100s(n)
			var keys []string
			for _, row := range table.rows(t) {
				for _, key := range code(row[0]) {
					key, value := placeholders.Replace(key), code(row[1])[0]
					keys = append(keys, key)
					if strings.HasPrefix(key, "hami.io/") || key == annotationKWOK {
						n.Annotations[key] = value
					} else {
						n.Labels[key] = value
					}
				}
			}
			reading, _ := readNode(n, nil, Options{})
			for _, key := range keys {
				if !seesKey(reading, key) && !seesKey(alone(n, key), key) {
					t.Errorf("%s is documented and no evidence", key)
				}
			}
			if slices.Contains(reading.Row.Warnings, v1.WarningInvalidLabel) {
				t.Errorf("an example of a value cannot be read: %v", reading.Evidence)
			}
		})
	}
}

// alone reads a Node with one of the labels, for keys that are asked only where another is absent.
func alone(n *corev1.Node, key string) Reading {
	reading, _ := readNode(node(h100s, labels(key+"="+n.Labels[key])), nil, Options{})
	return reading
}

func seesKey(r Reading, key string) bool {
	return slices.ContainsFunc(r.Evidence, func(e Evidence) bool { return e.Key == key })
}

func TestWhatIsDocumentedAsNoEvidenceIsNone(t *testing.T) {
	signals := firsts(t, docTable(t, "recognition.md", "What is no evidence", 0))
	if len(signals) < 16 {
		t.Errorf("the page has %d signals that are no evidence, want at least 16", len(signals))
	}
	for _, signal := range signals {
		if _, ok := readNode(node(labels(signal)), nil, Options{}); ok {
			t.Errorf("%s makes a GPU node", signal)
		}
	}
}

// keyShape matches what can be the key of a label, the name of a resource, or the start of one.
var keyShape = regexp.MustCompile(`^[-a-z0-9]+(\.[-a-z0-9]+)*\.[a-z]+/\S*$`)

func TestEveryKeyInTheCodeIsDocumented(t *testing.T) {
	documented := code(docText(t, "recognition.md"))
	for _, page := range docPages(t) {
		documented = append(documented, code(docText(t, page))...)
	}
	want := slices.Sorted(maps.Values(stringConstants(t, "label")))
	for _, file := range slices.Concat(sources(t, "."), sources(t, "../dra")) {
		ast.Inspect(file, func(n ast.Node) bool {
			if _, isImport := n.(*ast.ImportSpec); isImport {
				return false
			}
			if s, ok := literal(n); ok && keyShape.MatchString(s) {
				want = append(want, s)
			}
			return true
		})
	}
	if len(want) < 100 {
		t.Fatalf("found %d keys in the code, want far more", len(want))
	}
	for _, key := range want {
		if !slices.ContainsFunc(documented, func(d string) bool { return d == key || isPrefix(key) && strings.HasPrefix(d, key) }) {
			t.Errorf("docs/recognition does not name %s", key)
		}
	}
}

// isPrefix reports whether a key in the code is only the start of keys.
func isPrefix(key string) bool {
	return strings.HasSuffix(key, ".") || strings.HasSuffix(key, "-") || strings.HasSuffix(key, "/") || key == "huawei.com/Ascend"
}

func TestEveryKeyOfTheCorpusIsDocumented(t *testing.T) {
	placeholder := regexp.MustCompile(`<[a-z]+>`)
	var documented []*regexp.Regexp
	for _, table := range keyTables {
		for _, row := range table.rows(t) {
			for _, key := range code(row[0]) {
				parts := placeholder.Split(key, -1)
				for i := range parts {
					parts[i] = regexp.QuoteMeta(parts[i])
				}
				documented = append(documented, regexp.MustCompile("^"+strings.Join(parts, ".+")+"$"))
			}
		}
	}
	for _, c := range loadCorpus(t) {
		reading, _ := c.read()
		for _, e := range reading.Evidence {
			named := slices.ContainsFunc(documented, func(d *regexp.Regexp) bool { return d.MatchString(e.Key) })
			if (e.Kind == KindLabel || e.Kind == KindAnnotation) && !named {
				t.Errorf("%s: docs/recognition does not name %s", c.name, e.Key)
			}
		}
	}
}
