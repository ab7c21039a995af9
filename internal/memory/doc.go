// Package memory completes readings of Nodes by what was read of them earlier and can no longer be read. Store keeps what is
// remembered of each Node, under a lock; everything below it works on one Node and is pure.
//
// It has no client, context, clock or logger: the caller says what was read, and when.
package memory
