// Command helmschema writes values.schema.json of a chart from the comments of its values.yaml.
//
// The type of a value comes from its default, and its description from its "# --" comment, which helm-docs reads, too. A
// "# @schema" comment above that one adds JSON Schema keywords, as a YAML mapping on one line:
//
//	# @schema {minimum: 0}
//	# -- Replicas.
//	replicaCount: 2
//
// The keyword crd, as in {crd: spec.expected}, takes the schema of a field in the chart's CustomResourceDefinition, so that the
// limits of the API are written down once. A mapping without a "# --" comment is a group of values, and allows no others. In
// the comment at the top of the file, "# @schema" is for the values as a whole.
//
// The schema of a list must say what its items are, and that of a mapping that is one value what may be in it. Otherwise
// mistakes in them would not be found.
package main
