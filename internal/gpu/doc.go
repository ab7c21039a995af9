// Package gpu reads what one Node says about its GPUs: which are there, which can be used now, why the others cannot.
//
// [Read] is a pure function of a Node, the devices that DRA drivers published for it (package dra), and options. It
// works in three steps:
//
//  1. Collect: one file for each kind of evidence (resources.go, nvidia_labels.go, nvidia_operator.go, nvidia_mig.go,
//     hami.go, amd.go, intel.go, pci.go, cloud.go, dra_slices.go) starts with who writes it, when it vanishes and what it means.
//  2. Decide: nvidia_decide.go, amd_decide.go, intel.go, others.go and dra_groups.go put the sources in order and find
//     product, variant, count and memory; mode.go and nvidia_sharing.go find what the GPUs are prepared for and how they
//     are divided; warnings.go finds contradictions.
//  3. Judge: judge.go has the reasons why a node is not ready as a table in order; the first that applies wins.
//
// An absent field means unknown. No source says that a GPU node has no GPUs, so a count is never 0: where the evidence is
// missing, late or malformed, it is unknown. [Reading] carries every piece of evidence, what it said and what it decided.
//
// The package imports Kubernetes API types, api/v1 and the standard library: no client, context, clock or logger.
package gpu
