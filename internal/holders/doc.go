// Package holders says who holds GPUs, by the scheduler's own arithmetic: pods hold units of extended resources (OfPod),
// ResourceClaims hold devices of DRA drivers (OfClaim). A Tally adds them up by node and by namespace, one at a time.
//
// It is pure: values in, values out, no client, context, clock or logger. The operator and the plugin share it. What pods
// use without asking for it, as privileged ones can, is not seen here, and neither by the scheduler.
package holders
