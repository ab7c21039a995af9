// Package holders says who holds GPUs, by the scheduler's own arithmetic: pods hold units of extended resources (OfPod),
// ResourceClaims hold devices of DRA drivers (OfClaim). A Tally adds them up by node and by namespace, one at a time.
//
// It is pure: values in, values out, no client, context, clock or logger. The operator and the plugin share it. It does not
// see what pods use without asking for it, as privileged ones can. Neither does the scheduler.
package holders
