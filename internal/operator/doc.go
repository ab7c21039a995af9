// Package operator wires the parts of the operator together: a manager with two controllers, the watches, the election,
// probes and metrics. cmd/manager starts it with flags; a test can start it with Options.
package operator
