package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// commit is what is released.
type commit struct {
	hash  string
	time  time.Time // of the commit: the only time that gets into what is built (SOURCE_DATE_EPOCH)
	dirty bool      // the work tree differs; it is not what is built
}

func readCommit(ctx context.Context, root string) (commit, error) {
	head, err := output(ctx, command{dir: root, name: "git", args: []string{"log", "-1", "--format=%H %ct"}})
	if err != nil {
		return commit{}, err
	}
	c, err := parseCommit(head)
	if err != nil {
		return commit{}, err
	}
	status, err := output(ctx, command{dir: root, name: "git", args: []string{"status", "--porcelain"}})
	c.dirty = status != ""
	return c, err
}

func parseCommit(line string) (commit, error) {
	hash, epoch, _ := strings.Cut(strings.TrimSpace(line), " ")
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || len(hash) < 40 {
		return commit{}, fmt.Errorf("git log says %q: want a hash and a time", line)
	}
	return commit{hash: hash, time: time.Unix(seconds, 0).UTC()}, nil
}

// export writes the files of the commit, and nothing that only the work tree has, to a new folder.
func (c commit) export(ctx context.Context, root, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	archive := filepath.Clean(dir) + ".tar"
	if _, err := output(ctx, command{dir: root, name: "git", args: []string{"archive", "--output=" + archive, c.hash}}); err != nil {
		return err
	}
	if _, err := output(ctx, command{dir: dir, name: "tar", args: []string{"-xf", archive}}); err != nil {
		return err
	}
	return os.Remove(archive)
}
