// Package inventory turns what single nodes say about their GPUs into the answer for a fleet: totals, products, resources,
// sorted rows and conditions (Snapshot), what differs between two answers (Changes), and the Events that report it.
//
// All of it is pure: values in, values out, no client, context, clock or logger. The operator and the plugin share it.
package inventory
