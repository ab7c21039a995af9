package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// command is a program to run to its end.
type command struct {
	dir  string
	name string
	args []string
	env  []string // nil: that of this process
}

// output runs a command and returns what it prints. An error has the end of what the command said of it. When ctx ends, the
// command is asked to end before it is killed, so that it can clean up.
func output(ctx context.Context, c command) (string, error) {
	cmd := exec.CommandContext(ctx, c.name, c.args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", c.name, strings.Join(c.args, " "), err, lastLines(stderr.String()+stdout.String(), 20))
	}
	return stdout.String(), nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// tool builds a program that hack/tools pins, unless the build cache has it, and returns where it is.
func tool(ctx context.Context, root, name string) (string, error) {
	path, err := output(ctx, command{dir: root, name: "go", args: []string{"tool", "-n", "-modfile=hack/tools/" + name + "/go.mod", name}})
	if err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	return strings.TrimSpace(path), nil
}
