// Package manifest reads Kubernetes objects out of files: YAML or JSON, one or many documents, single objects or lists,
// as kubectl prints them or as people write them.
//
// [Each] finds the objects, [Decode] turns one into a Go type. Both are made for input that nobody has checked: an error
// is one line that names the file, the document, the item and, where there is one, the field. Lists are read item by
// item, so that memory does not grow with the number of items.
package manifest
