// Package source decides what the operator caches, and how little of it, and reads GPU nodes from that cache.
package source
