// Package publish is what every writer of an inventory does. An [Output] brings one kind of object up to date:
//
//  1. settle: wait, briefly, for inputs that are still being read
//  2. seed: once in a term of leadership, remember what earlier processes wrote
//  3. compute the answer, and put it on record for the metrics
//  4. compare it with the stored object
//  5. pace: at most one write of an object in a second
//  6. apply it, and put the write on record
//
// What differs between outputs is a [Writer]: internal/status and internal/configmap have one each. Everything that this
// process knows about what it has published is in one [Record] for each output, which also forgets it.
package publish
