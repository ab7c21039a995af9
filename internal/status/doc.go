// Package status publishes inventories to the status of every GpuInventory, and reports what changed as Events.
package status
