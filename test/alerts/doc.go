// Package alerts tests the alert rules, their runbooks and the dashboard: that they use only what the operator exposes, that
// each alert is documented and tested, and that the chart renders them as they are. What the rules do is tested with
// promtool, by the YAML files beside: make test-alerts.
package alerts
