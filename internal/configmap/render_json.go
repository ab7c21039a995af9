package configmap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Schema names the form of the JSON. Fields may be added under the same name; none changes its meaning.
const Schema = "gpu-inventory/v1"

// What the JSON spends at most on lists that are short unless labels are forged, so that the rows of problem nodes always
// find room.
const (
	maxProductsBytes  = 200_000
	maxResourcesBytes = 200_000
	maxMessageBytes   = 1024
)

// document is the content of a status as scripts read it. Absent fields mean unknown, as they do there. What says when or
// in answer to which spec the status was written is left out: observedAt, observedGeneration, the conditions' times.
type document struct {
	Schema           string               `json:"schema"`
	TotalGpuNodes    *int32               `json:"totalGpuNodes,omitempty"`
	ReadyGpuNodes    *int32               `json:"readyGpuNodes,omitempty"`
	TotalGpus        *int32               `json:"totalGpus,omitempty"`
	ReadyGpus        *int32               `json:"readyGpus,omitempty"`
	FreeGpus         *int32               `json:"freeGpus,omitempty"`
	UnknownGpuNodes  *int32               `json:"unknownGpuNodes,omitempty"`
	Products         []v1.ProductSummary  `json:"products,omitempty"`
	ProductsOmitted  int                  `json:"productsOmitted,omitempty"`
	Resources        []v1.ResourceSummary `json:"resources,omitempty"`
	ResourcesOmitted int                  `json:"resourcesOmitted,omitempty"`
	Nodes            []json.RawMessage    `json:"nodes,omitempty"`
	NodesOmitted     int                  `json:"nodesOmitted,omitempty"`
	Conditions       []condition          `json:"conditions,omitempty"`
}

// condition is a metav1.Condition without its times.
type condition struct {
	Type    string                 `json:"type"`
	Status  metav1.ConditionStatus `json:"status"`
	Reason  string                 `json:"reason"`
	Message string                 `json:"message"`
}

// newDocument is everything but the nodes.
func newDocument(inv *v1.GpuInventoryStatus) (document, error) {
	products, err := fitItems(inv.Products, maxProductsBytes)
	if err != nil {
		return document{}, err
	}
	resources, err := fitItems(inv.Resources, maxResourcesBytes)
	if err != nil {
		return document{}, err
	}
	doc := document{
		Schema:           Schema,
		TotalGpuNodes:    inv.TotalGpuNodes,
		ReadyGpuNodes:    inv.ReadyGpuNodes,
		TotalGpus:        inv.TotalGpus,
		ReadyGpus:        inv.ReadyGpus,
		FreeGpus:         inv.FreeGpus,
		UnknownGpuNodes:  inv.UnknownGpuNodes,
		Products:         products,
		ProductsOmitted:  len(inv.Products) - len(products),
		Resources:        resources,
		ResourcesOmitted: len(inv.Resources) - len(resources),
	}
	for _, c := range inv.Conditions {
		doc.Conditions = append(doc.Conditions, condition{
			Type: c.Type, Status: c.Status, Reason: c.Reason, Message: clip(c.Message, maxMessageBytes),
		})
	}
	return doc, nil
}

func (d *document) setNodes(rows []row, omitted int) {
	d.NodesOmitted = omitted
	d.Nodes = make([]json.RawMessage, len(rows))
	for i, r := range rows {
		d.Nodes[i] = json.RawMessage(r.json)
	}
}

// fitItems keeps the first items whose JSON fits into budget bytes.
func fitItems[T any](items []T, budget int) ([]T, error) {
	for i := range items {
		text, err := encode(&items[i])
		if err != nil {
			return nil, err
		}
		if budget -= len(text) + len(","); budget < 0 {
			return items[:i], nil
		}
	}
	return items, nil
}

// encode gives compact JSON. Unlike json.Marshal it leaves <, > and & alone: six bytes for one, and no HTML in sight.
func encode(value any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return "", fmt.Errorf("encode JSON: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// clip cuts a text to at most limit bytes, between characters, and marks the cut.
func clip(s string, limit int) string {
	const mark = "..."
	if len(s) <= limit {
		return s
	}
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}
