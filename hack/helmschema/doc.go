// Command helmschema writes values.schema.json of a chart from the comments of its values.yaml.
//
// Every value gets a type from its default and a description from its "# --" comment, the one that helm-docs reads too. A
// "# @schema" comment above that adds JSON Schema keywords as a YAML mapping on one line:
//
//	# @schema {minimum: 0}
//	# -- Replicas.
//	replicaCount: 2
//
// The keyword crd takes the schema of a field of the chart's CustomResourceDefinition, so that the API's limits are written
// once: {crd: spec.expected}. A mapping without "# --" is a group: its members are the only values in it. In the comment at the
// top of the file, "# @schema" is for the values as a whole.
//
// Lists must say what their items are, and mappings that are one value what may be in them: a value that takes anything takes
// every mistake.
package main
