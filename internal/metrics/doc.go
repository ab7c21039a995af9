// Package metrics turns the current inventories into Prometheus samples and counts what the operator does.
//
// The inventory series come from a collector that asks for the inventories at each scrape, so a node that is gone leaves
// no series behind, and from the leader alone, so that sums over replicas stay right. What is not known is an absent
// series, never a zero.
//
// Everything registers on a prometheus.Registerer that the caller passes in; nothing registers by itself. The package
// imports the API types, not the reconcilers that use it.
package metrics
