package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// conditions returns a text about the conditions of the run.
func conditions(b *bench) string {
	version := func(program string) string {
		out, err := exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), program), "--version").Output()
		if err != nil {
			return program + " of unknown version"
		}
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return line
	}
	size := "the full size"
	if !b.full() {
		size = "not the full size of 5000 nodes and 100000 pods, for which the absolute budgets are"
	}
	return fmt.Sprintf("Measured on %s with %d nodes and %d pods (%s), on %d cores (%s) with %s of memory, %s, %s. "+
		"%s, %s without fsync, the load and all programs shared the machine. "+
		"Memory after %s at rest, CPU over %s, latency over %d changes 2 s apart.\n",
		time.Now().UTC().Format(time.DateOnly), b.nodes, b.pods, size, runtime.NumCPU(), field("/proc/cpuinfo", "model name"),
		field("/proc/meminfo", "MemTotal"), runtime.GOOS+"/"+runtime.GOARCH, runtime.Version(),
		version("kube-apiserver"), version("etcd"), b.rest, b.idleFor, b.changes)
}

// field returns a value in a file in /proc with lines such as "name : value".
func field(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
