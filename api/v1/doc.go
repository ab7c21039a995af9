// Package v1 holds the GpuInventory API, group homelab.youngju.dev, version v1: its types, condition types, reasons and
// warnings. Everything that other people's tools may depend on is named here and nowhere else.
//
// One rule holds for every status field: absent means unknown, 0 means that a source said 0.
//
// +kubebuilder:object:generate=true
// +groupName=homelab.youngju.dev
package v1
