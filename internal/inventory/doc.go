// Package inventory turns rows of single nodes into the answer for a fleet: totals, products, resources, sorted rows and
// conditions (Snapshot), and into the Events that report what differs between two answers (Changes).
//
// All of it is pure: values in, values out, no client, context, clock or logger. The operator and the plugin share it.
package inventory
