// Package cli is the kubectl plugin kubectl-gpuinv: the GPU inventory on a terminal, from a cluster or from files.
//
// [Run] is the whole program except the process around it. Nodes are read by the same pure code that the operator runs, so
// a file with Nodes shows what the operator saw.
package cli
