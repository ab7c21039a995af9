// Package cli is the kubectl plugin kubectl-gpuinv: the GPU inventory on a terminal, from a cluster or from files.
//
// [Run] is the whole program but for the process around it. The facts come from the same pure code that the operator
// runs, so that a file with Nodes replays what the operator saw.
package cli
