package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// platform is an operating system and a processor, in Go's and OCI's names, which agree for all that we build for.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

var imagePlatforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}}

// ldflags are those of the Dockerfile; a test compares them.
func ldflags(version string) string {
	return "-s -w -X github.com/gpu-inventory/gpu-inventory-operator/internal/version.override=" + version
}

// build compiles one program of the sources in src.
type build struct {
	src      string
	pkg      string
	to       string
	version  string
	platform platform
	cache    string // GOCACHE; empty: the usual one
}

func (b build) run(ctx context.Context) error {
	_, err := output(ctx, command{dir: b.src, name: "go", args: b.args(), env: b.env(os.Environ())})
	return err
}

func (b build) args() []string {
	return []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags(b.version), "-o", b.to, b.pkg}
}

// env takes out of the environment whatever would change the binary.
func (b build) env(from []string) []string {
	env := append([]string(nil), from...)
	env = append(env, "CGO_ENABLED=0", "GOOS="+b.platform.os, "GOARCH="+b.platform.arch,
		"GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	if b.cache != "" {
		env = append(env, "GOCACHE="+b.cache)
	}
	return env
}

// inspect reads back what the compiler wrote into the binary about itself.
func inspect(path string, want platform) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read build info of %s: %w", path, err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	got := platform{settings["GOOS"], settings["GOARCH"]}
	if got != want || settings["CGO_ENABLED"] != "0" || settings["-trimpath"] != "true" {
		return fmt.Errorf("%s is built for %s with %v: want %s, CGO_ENABLED=0 and -trimpath=true", path, got, info.Settings, want)
	}
	for key := range settings {
		if strings.HasPrefix(key, "vcs") {
			return fmt.Errorf("%s has %s: its bytes depend on the state of the repository", path, key)
		}
	}
	return nil
}

// buildManagers builds the manager for each platform of the image into a folder, and returns the files by platform.
func buildManagers(ctx context.Context, src, to, version, cache string) (map[platform]string, error) {
	files := map[platform]string{}
	for _, p := range imagePlatforms {
		files[p] = filepath.Join(to, p.arch, "manager")
		b := build{src: src, pkg: "./cmd/manager", to: files[p], version: version, platform: p, cache: cache}
		if err := b.run(ctx); err != nil {
			return nil, err
		}
		if err := inspect(files[p], p); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func sha256File(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return sha256Hex(data), nil
}

func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
