// Package inventoryfile creates the one GpuInventory that a file describes, and applies the file again at the start of each
// term of leadership. If the chart created the object, it could come before the API server knows the CRD. The operator can
// wait for that.
//
// The object is applied with a field manager of its own. A field that is removed from the file is removed from the object. A
// field that was never in the file belongs to whoever sets it.
package inventoryfile
