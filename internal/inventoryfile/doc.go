// Package inventoryfile creates the one GpuInventory that a file describes, and keeps its fields equal to the file's at each
// start of a term. A chart that creates the object itself has to race the API server for its CRD; the operator can wait.
//
// The object is applied with a field manager of its own: what is taken out of the file is taken out of the object, and what was
// never in the file belongs to whoever sets it.
package inventoryfile
