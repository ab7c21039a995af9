// Package fleet keeps what the cluster says now: of each Node its facts and the row that they give, of each Pod and
// ResourceClaim what it holds, and the ResourceSlices and DeviceTaintRules. It tells its listeners which change concerns
// whom.
//
// A [Keeper] takes in the objects of one kind. The package knows no client and no API server: internal/watch feeds it, and
// internal/publish reads it.
package fleet
