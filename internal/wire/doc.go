// Package wire reads Nodes and Pods from an API server at a fraction of the usual cost: what nobody looks at is cut out of
// the protobuf message before it is decoded. A Node of 19 kB, most of which are images, or a Pod of 5 kB becomes a few
// hundred bytes, and the decoder, the typed object and the garbage collector have that much less to do.
//
// What is kept is a table of field numbers. Kubernetes never gives a number another meaning, and what the fields mean stays
// the business of the generated decoders: they decode what is left. It knows nothing of clients, stores or clocks.
package wire
