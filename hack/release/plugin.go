package main

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
)

const pluginName = "kubectl-gpuinv"

var pluginPlatforms = []platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}}

// asset is a file for the release page. Its exported fields are for the krew manifest.
type asset struct {
	Name     string
	OS, Arch string // empty for what is not an archive of the plugin
	SHA256   string
	data     []byte
}

func newAsset(name string, data []byte) asset {
	return asset{Name: name, SHA256: sha256Hex(data), data: data}
}

// Bin is the program's name in the archive.
func (a asset) Bin() string { return binary(platform{a.OS, a.Arch}) }

func binary(p platform) string {
	if p.os == "windows" {
		return pluginName + ".exe"
	}
	return pluginName
}

// buildPlugins builds the plugin for each platform and packs it with the license.
func buildPlugins(ctx context.Context, src, work, version string, created time.Time) ([]asset, error) {
	license, err := os.ReadFile(filepath.Join(src, "LICENSE"))
	if err != nil {
		return nil, err
	}
	var assets []asset
	for _, p := range pluginPlatforms {
		path := filepath.Join(work, "plugin", p.os+"-"+p.arch, binary(p))
		b := build{src: src, pkg: "./cmd/kubectl-gpuinv", to: path, version: version, platform: p}
		if err := b.run(ctx); err != nil {
			return nil, err
		}
		if err := inspect(path, p); err != nil {
			return nil, err
		}
		program, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			return nil, err
		}
		a, err := pack(p, version, program, license, created)
		if err != nil {
			return nil, err
		}
		assets = append(assets, a)
	}
	return assets, nil
}

// pack makes the archive that is usual on a platform.
func pack(p platform, version string, program, license []byte, created time.Time) (asset, error) {
	name := fmt.Sprintf("%s_%s_%s_%s", pluginName, version, p.os, p.arch)
	files := []archiveFile{{"LICENSE", 0o644, license}, {binary(p), 0o755, program}}
	extension, archive := ".tar.gz", tgzOf
	if p.os == "windows" {
		extension, archive = ".zip", zipOf
	}
	data, err := archive(files, created)
	if err != nil {
		return asset{}, fmt.Errorf("pack %s: %w", name, err)
	}
	a := newAsset(name+extension, data)
	a.OS, a.Arch = p.os, p.arch
	return a, nil
}

func zipOf(files []archiveFile, t time.Time) ([]byte, error) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range files {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: t.UTC()})
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

//go:embed krew.yaml.tmpl
var krewTemplate string

// krewManifest is what the index of kubectl's plugin manager wants to know.
func krewManifest(assets []asset, version string) ([]byte, error) {
	var buf bytes.Buffer
	data := map[string]any{"Version": version, "Source": sourceURL, "Assets": assets}
	if err := template.Must(template.New("krew").Parse(krewTemplate)).Execute(&buf, data); err != nil {
		return nil, fmt.Errorf("write krew manifest: %w", err)
	}
	return buf.Bytes(), nil
}

// checksums is a file for sha256sum --check.
func checksums(assets []asset) []byte {
	lines := make([]string, 0, len(assets))
	for _, a := range assets {
		lines = append(lines, a.SHA256+"  "+a.Name+"\n")
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return []byte(strings.Join(lines, ""))
}

// writeAssets leaves the files for the release page in a folder: all of them, and the checksums of all of them.
func writeAssets(dir string, assets []asset) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, a := range append(assets, newAsset("checksums.txt", checksums(assets))) {
		if err := os.WriteFile(filepath.Join(dir, a.Name), a.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
