package v1

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestLimitsAreThoseOfTheValidation(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "gpuinventory_types.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	markers := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if fields, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range fields.Fields.List {
				if len(field.Names) > 0 && field.Doc != nil {
					var lines []string
					for _, comment := range field.Doc.List {
						lines = append(lines, comment.Text)
					}
					markers[spec.Name.Name+"."+field.Names[0].Name] = strings.Join(lines, "\n") + "\n"
				}
			}
		}
		return false
	})
	for field, limit := range map[string]string{
		"GpuNode.Message":              fmt.Sprintf("MaxLength=%d", MaxMessageBytes),
		"GpuGroup.Product":             fmt.Sprintf("MaxLength=%d", MaxProductBytes),
		"GpuGroup.Variant":             fmt.Sprintf("MaxLength=%d", MaxProductBytes),
		"GpuNode.Gpus":                 fmt.Sprintf("MaxItems=%d", MaxGroups),
		"GpuNode.Resources":            fmt.Sprintf("MaxItems=%d", MaxResources),
		"GpuInventoryStatus.Products":  fmt.Sprintf("MaxItems=%d", MaxSummaries),
		"GpuInventoryStatus.Resources": fmt.Sprintf("MaxItems=%d", MaxSummaries),
	} {
		if marker := "// +kubebuilder:validation:" + limit + "\n"; !strings.Contains(markers[field], marker) {
			t.Errorf("%s lacks %s; it has:\n%s", field, limit, markers[field])
		}
	}
}
