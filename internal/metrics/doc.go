// Package metrics turns the current inventories into Prometheus samples and counts what the operator does.
//
// The inventory series are made from the inventories at each scrape, so a node that is gone leaves no series behind. Only
// the leader has them, so that sums over replicas are right. What is not known is an absent series, never a zero.
//
// What is counted is registered on a prometheus.Registerer that the caller passes in. The package does not import the
// reconcilers that use it.
package metrics
