package main

import (
	"os"
	"runtime/debug"
)

// gcPercent lets the heap grow by half between two collections, not to twice its size. At rest there is little to collect, so
// that the memory costs more than the CPU.
const gcPercent = 50

// saveMemory sets the garbage collector, unless the environment has done so.
func saveMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// releaseMemory gives back what the first lists took. The collector would keep much of it until it has next to collect, which
// on a quiet cluster takes minutes.
func releaseMemory() { debug.FreeOSMemory() }
