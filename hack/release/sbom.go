package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// makeSBOM has syft read the image in the registry, so that the SBOM is about what is pulled and not about what we meant to push.
// It returns the number of packages, none of which is missing that the program itself says it is made of.
func makeSBOM(ctx context.Context, syft, ref, path, program string, env []string) (int, error) {
	args := []string{"scan", "--quiet", "--from", "registry", "--source-name", imageName, "--output", "spdx-json=" + path, ref}
	if _, err := output(ctx, command{name: syft, args: args, env: env}); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return 0, err
	}
	want, err := modules(program)
	if err != nil {
		return 0, err
	}
	packages, err := checkSBOM(text, want)
	if err != nil {
		return 0, fmt.Errorf("SBOM of %s: %w", ref, err)
	}
	return packages, nil
}

// modules lists what the compiler wrote into a program about its parts, as name@version.
func modules(program string) ([]string, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read build info of %s: %w", program, err)
	}
	all := []string{"stdlib@" + info.GoVersion}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		all = append(all, dep.Path+"@"+dep.Version)
	}
	return all, nil
}

// checkSBOM counts the packages of an SPDX document, and misses those that should be there: an SBOM that leaves something out is
// worse than none.
func checkSBOM(text []byte, want []string) (int, error) {
	var doc struct {
		SPDXVersion string
		Packages    []struct{ Name, VersionInfo string }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return 0, fmt.Errorf("read SPDX: %w", err)
	}
	if !strings.HasPrefix(doc.SPDXVersion, "SPDX-") {
		return 0, errors.New("not an SPDX document")
	}
	found := map[string]bool{}
	for _, p := range doc.Packages {
		found[p.Name+"@"+p.VersionInfo] = true
	}
	for _, module := range want {
		if !found[module] {
			return 0, fmt.Errorf("%s is missing among %d packages", module, len(doc.Packages))
		}
	}
	return len(doc.Packages), nil
}
