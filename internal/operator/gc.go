package operator

import (
	"os"
	"runtime/debug"
)

// gcPercent lets the heap grow by half between two collections, not to twice its size. At rest there is little to collect, so
// memory costs more than CPU.
const gcPercent = 50

// TuneGC sets the garbage collector of the process, unless the environment has done so.
func TuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// releaseMemory gives back what the first lists took. The collector would keep much of it until its next run, which on a
// quiet cluster is minutes away.
func releaseMemory() { debug.FreeOSMemory() }
