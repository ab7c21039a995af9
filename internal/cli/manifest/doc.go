// Package manifest reads Kubernetes objects from files: YAML or JSON, one or many documents, single objects or lists.
//
// [Each] finds the objects, [Decode] turns one into a Go type. An error is one line that names the file, the document, the
// item and, where there is one, the field. The parsers are libraries. What they cannot do in little memory is done here:
// reading a list of any length item by item.
package manifest
