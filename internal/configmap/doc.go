// Package configmap turns an inventory into the text of the ConfigMap gpu-node-status, and keeps that ConfigMap.
//
// The rendering is pure: Render maps a GpuInventoryStatus to the ConfigMap's data and nothing else. It imports API types
// and the standard library only. Equal inventories give equal bytes, so that comparing data is enough to decide whether
// to write: no time takes part but a node's lastSeen, which is content.
//
// The text has two readers. A person reads `summary` and `nodes` on a terminal: what comes from labels is shown with
// blanks and unprintable characters replaced, so that no value can break a line. A script reads `inventory.json`, where
// every value is exact.
package configmap
