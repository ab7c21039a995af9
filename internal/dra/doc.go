// Package dra reads what ResourceSlices and DeviceTaintRules publish: the devices of each Node ([DevicesByNode]), the taints
// that rules add to them ([AddTaints]), and which devices are one card ([Cards]).
//
// Which drivers publish GPUs, and what their words for devices mean, is for package gpu.
//
// The package imports Kubernetes API types and the standard library: no client, context, clock or logger.
package dra
