// Package status keeps the status of every GpuInventory equal to what the Nodes that it covers say: the shell around the
// pure packages gpu and inventory, with the watches, the one write and the Events that follow it.
package status
