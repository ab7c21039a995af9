package gpu

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// docTables are the tables of docs/recognition.md: heading -> tables -> rows -> columns, headers left out.
func docTables(t *testing.T) map[string][][][]string {
	t.Helper()
	out, heading, inside := map[string][][][]string{}, "", false
	for line := range strings.Lines(docText(t)) {
		line = strings.TrimSpace(line)
		if h := strings.TrimLeft(line, "#"); h != line {
			heading = strings.TrimSpace(h)
		}
		row := strings.Split(strings.Trim(line, "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		switch isRow := strings.HasPrefix(line, "|"); {
		case !isRow:
			inside = false
		case !inside:
			inside = true
			out[heading] = append(out[heading], nil)
		case strings.HasPrefix(line, "|---"):
		default:
			last := len(out[heading]) - 1
			out[heading][last] = append(out[heading][last], row)
		}
	}
	return out
}

func docText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/recognition.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// docTable is the n-th table under a heading.
func docTable(t *testing.T, heading string, n int) [][]string {
	t.Helper()
	tables := docTables(t)[heading]
	if n >= len(tables) || len(tables[n]) == 0 {
		t.Fatalf("docs/recognition.md has no table %d under %q", n, heading)
	}
	return tables[n]
}

var quoted = regexp.MustCompile("`([^`]+)`")

// code is what a text has in backticks.
func code(text string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// firsts is the only thing in backticks in the first column of every row, in order.
func firsts(t *testing.T, rows [][]string) []string {
	t.Helper()
	var out []string
	for _, row := range rows {
		c := code(row[0])
		if len(c) != 1 || slices.Contains(out, c[0]) {
			t.Errorf("the row %q has not one name in its first column, or one that is there already", row)
			continue
		}
		out = append(out, c[0])
	}
	return out
}

func documents(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: docs/recognition.md differs from the code (-code +documented):\n%s", what, diff)
	}
}

func TestDocumentationListsTheResourceNames(t *testing.T) {
	want, got := map[string]string{}, map[string]string{}
	for name, c := range resourceNames {
		want[name] = string(c.Vendor) + " " + string(c.Kind)
	}
	rows := docTable(t, "Names", 0)
	for i, name := range firsts(t, rows) {
		got[name] = rows[i][1] + " " + code(rows[i][2])[0]
	}
	documents(t, "resource names", want, got)
	var kinds []string
	for _, row := range slices.Concat(rows, docTable(t, "Forms", 0)) {
		kinds = append(kinds, code(row[len(row)-1])...)
	}
	slices.Sort(kinds)
	documents(t, "kinds of units that names have", constants(t, ".", "UnitKind"), slices.Compact(kinds))
	units := firsts(t, docTable(t, "Resource names", 0))
	slices.Sort(units)
	documents(t, "kinds of units", constants(t, ".", "UnitKind"), units)
}

func TestDocumentationShowsTheFormsOfResourceNames(t *testing.T) {
	for _, row := range docTable(t, "Forms", 0) {
		name := code(row[1])[0]
		c, ok := Classify(name, Options{})
		if got, want := fmt.Sprintf("%s %s %v", c.Vendor, c.Kind, ok), row[2]+" "+code(row[3])[0]+" true"; got != want {
			t.Errorf("%s is %s, documented is %s", name, got, want)
		}
	}
	_, words, _ := strings.Cut(docText(t), "one of these words, in any case, is no GPU:")
	words, _, _ = strings.Cut(words, "\n\n")
	documents(t, "words of names that are no GPU", notGPUWords, code(words))
}

func TestDocumentationListsTheDRADrivers(t *testing.T) {
	words := map[deviceKind]string{deviceGPU: "a GPU", devicePart: "a part of a GPU", deviceVF: "a virtual function", deviceVFIO: "a GPU for virtual machines"}
	want, got := map[string]string{}, map[string]string{}
	for name, d := range draDrivers {
		for kind, counts := range d.kinds {
			want[name+" "+kind] = string(d.vendor) + " " + words[counts]
		}
		if d.kinds == nil {
			want[name+" any"] = string(d.vendor) + " " + words[deviceGPU]
		}
	}
	for _, row := range docTable(t, "DRA drivers", 0) {
		kinds := code(row[2])
		if strings.Contains(row[2], "none") {
			kinds = append(kinds, "")
		}
		if row[2] == "any" {
			kinds = []string{"any"}
		}
		for _, kind := range kinds {
			got[code(row[0])[0]+" "+kind] = row[1] + " " + row[3]
		}
	}
	documents(t, "DRA drivers", want, got)

	attributes := map[string][]string{}
	for _, row := range docTable(t, "DRA drivers", 1) {
		attributes[row[0]] = code(row[1])
	}
	documents(t, "attributes of devices", map[string][]string{
		"PCI address": attrPCI, "PCI address of the GPU": attrParentPCI, "product": attrProduct,
		"profile": attrProfile, "health": attrHealth, "memory": capacityBytes,
	}, attributes)
}

func TestDocumentationListsTheHealthConditions(t *testing.T) {
	takes := map[faultScope]string{faultNode: "the node", faultMissing: "some GPUs"}
	want, got := map[string]string{}, map[string]string{}
	for name, f := range healthConditions {
		want[string(name)] = string(f.status) + ", " + takes[f.scope]
	}
	rows := docTable(t, "Health conditions", 0)
	for i, name := range firsts(t, rows) {
		got[name] = rows[i][2] + ", " + rows[i][3]
	}
	documents(t, "health conditions", want, got)
}

func TestDocumentationListsTheReasonsInOrder(t *testing.T) {
	var want []string
	for _, c := range checks {
		want = append(want, string(c.reason))
	}
	documents(t, "reasons", append(want, string(v1.ReasonOK)), firsts(t, docTable(t, "Reasons", 0)))
	_, states, _ := strings.Cut(docText(t), "States of a driver upgrade that take the GPUs away:")
	states, _, _ = strings.Cut(states, ". ")
	documents(t, "states of a driver upgrade", upgradeWindow, code(states))
}

func TestDocumentationListsTheWarnings(t *testing.T) {
	got := firsts(t, docTable(t, "Warnings", 0))
	slices.Sort(got)
	documents(t, "warnings", constants(t, "../../api/v1", "Warning"), got)
}

func TestDocumentationListsTheFieldsThatEvidenceDecides(t *testing.T) {
	got := firsts(t, docTable(t, "Fields that evidence decides", 0))
	slices.Sort(got)
	documents(t, "fields", slices.Sorted(maps.Values(stringConstants(t, "field"))), got)
}

func TestDocumentationListsTheSharingsAndModes(t *testing.T) {
	sharings := firsts(t, docTable(t, "Sharing", 0))
	slices.Sort(sharings)
	documents(t, "sharing", constants(t, "../../api/v1", "Sharing"), sharings)
	var modes []string
	for _, row := range docTable(t, "Workload mode", 0) {
		modes = append(modes, code(row[2])...)
	}
	slices.Sort(modes)
	documents(t, "workload modes", constants(t, "../../api/v1", "WorkloadMode"), slices.Compact(modes))
}

func TestDocumentationListsTheLimits(t *testing.T) {
	got := map[string]int64{}
	for _, row := range docTable(t, "Limits", 0) {
		n, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			t.Error(err)
		}
		got[row[0]] = n
	}
	documents(t, "limits", map[string]int64{
		"physical GPUs, MIG instances of a profile or entries of a list, on one node": maxGPUs,
		"units of one resource": maxUnits, "replicas of one GPU": maxReplicas, "memory of one GPU, MiB": maxMiB,
		"bytes of a message or of a quoted value": maxText, "bytes of a product or variant": maxName,
		"rows of `gpus` on one node": maxGroups, "rows of `resources` on one node": maxResources,
	}, got)
}

func TestDocumentationListsHardware(t *testing.T) {
	vendors, vram := map[string]v1.Vendor{}, map[string]int64{}
	for _, row := range docTable(t, "Node feature discovery", 1) {
		vendors[code(row[0])[0]] = v1.Vendor(row[1])
	}
	documents(t, "PCI vendors", pciVendors, vendors)
	for _, row := range docTable(t, "Full memory of AMD cards", 0) {
		for _, id := range code(row[0]) {
			n, err := strconv.ParseInt(row[1], 10, 64)
			if err != nil {
				t.Error(err)
			}
			vram[id] = n
		}
	}
	documents(t, "full memory of AMD cards", amdFullVRAM, vram)
}

func TestDocumentationListsMachineTypesInOrder(t *testing.T) {
	want := []string{labelGKEAccelerator, labelGKECount, labelGKESharing, labelGKEClients, labelGKEPartition}
	for _, f := range machineLabels {
		want = append(want, f.name)
		for _, key := range []string{f.maker, f.count, f.memory} {
			if key != "" {
				want = append(want, key)
			}
		}
	}
	// A key that two families share has one row, after both.
	shared := "gpu.nvidia.com/count"
	want = append(slices.DeleteFunc(want, func(key string) bool { return key == shared }), shared)
	got := firsts(t, docTable(t, "Machine types", 0))
	documents(t, "labels of machine types", append(want, presenceLabels...), got)
}

func TestDocumentationListsTheOperandsOfModes(t *testing.T) {
	rows := docTable(t, "Workload mode", 0)
	for i, operands := range [][]string{operandsVGPU, operandsPassthrough, operandsContainer} {
		documents(t, "operands of a mode", operands, code(rows[i+2][1]))
	}
	var suffixes []string
	for _, row := range docTable(t, "MIG", 0) {
		if suffix, ok := strings.CutPrefix(code(row[0])[0], labelMIGPrefix+"<profile>"); ok {
			suffixes = append(suffixes, suffix)
		}
	}
	documents(t, "labels of MIG profiles", slices.Sorted(slices.Values(migSuffixes)), slices.Sorted(slices.Values(suffixes)))
}

// keySections are the headings with tables of labels and annotations.
var keySections = []string{
	"GPU feature discovery", "MIG", "NVIDIA GPU Operator", "AMD", "Intel", "Node feature discovery", "HAMi", "Machine types", "Others",
}

// placeholders are what stands in documented keys, and an example of each.
var placeholders = strings.NewReplacer("<operand>", "driver", "<profile>", "1g.10gb", "<product>", "AMD_X", "<id>", "74a1",
	"<class>", "0380", "<fields>", "0302_10de", "<vendor>", "mlu")

func TestEveryDocumentedKeyIsEvidence(t *testing.T) {
	for _, section := range keySections {
		t.Run(section, func(t *testing.T) {
			n := node()
			h100s(n)
			var keys []string
			for _, row := range docTable(t, section, 0) {
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
	for _, signal := range firsts(t, docTable(t, "Evidence", 1)) {
		if _, ok := readNode(node(labels(signal)), nil, Options{}); ok {
			t.Errorf("%s makes a GPU node", signal)
		}
	}
}

// keyShape matches what can be the key of a label, the name of a resource, or the start of one.
var keyShape = regexp.MustCompile(`^[-a-z0-9]+(\.[-a-z0-9]+)*\.[a-z]+/\S*$`)

func TestEveryKeyInTheCodeIsDocumented(t *testing.T) {
	documented := code(docText(t))
	want := slices.Sorted(maps.Values(stringConstants(t, "label")))
	for _, file := range sources(t, ".") {
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
			t.Errorf("docs/recognition.md does not name %s", key)
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
	for _, section := range keySections {
		for _, row := range docTable(t, section, 0) {
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
				t.Errorf("%s: docs/recognition.md does not name %s", c.name, e.Key)
			}
		}
	}
}

// sources are the files of a package, tests left out.
func sources(t *testing.T, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// constants are the values of a package's string constants of a type, sorted.
func constants(t *testing.T, dir, typeName string) []string {
	t.Helper()
	var out []string
	for _, f := range sources(t, dir) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if id, typed := specType(spec, ok); typed && id == typeName {
				if s, ok := literal(spec.Values[0]); ok {
					out = append(out, s)
				}
			}
			return true
		})
	}
	slices.Sort(out)
	if len(out) == 0 {
		t.Fatalf("%s has no constants of type %s", dir, typeName)
	}
	return out
}

func specType(spec *ast.ValueSpec, ok bool) (string, bool) {
	if !ok || len(spec.Values) != 1 {
		return "", false
	}
	id, typed := spec.Type.(*ast.Ident)
	if !typed {
		return "", false
	}
	return id.Name, true
}

// stringConstants are this package's string constants whose names start with a prefix, by name.
func stringConstants(t *testing.T, prefix string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range sources(t, ".") {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if ok && len(spec.Values) == 1 && strings.HasPrefix(spec.Names[0].Name, prefix) {
				if s, ok := literal(spec.Values[0]); ok {
					out[spec.Names[0].Name] = s
				}
			}
			return true
		})
	}
	return out
}

func literal(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}
