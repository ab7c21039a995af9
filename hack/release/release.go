package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
)

// release is one run: what it was told, and what it knows so far.
type release struct {
	options
	work  string
	out   io.Writer
	start time.Time

	commit   commit
	chart    *chart.Chart
	src      string // the files of the commit
	number   string // 1.2.3: the tag of image and chart
	version  string // v1.2.3: what the programs say of themselves
	registry string // host[:port]/owner
	loopback bool
	signer   *signer
	syft     string

	managers map[platform]string // the programs, by platform
	images   map[platform]v1.Image
	index    v1.ImageIndex
	files    []asset           // for the release page
	digests  map[string]string // image, chart
	rows     []row
}

func (r *release) run(ctx context.Context) (err error) {
	r.start, r.digests = time.Now(), map[string]string{}
	if err := r.read(ctx); err != nil {
		return err
	}
	if err := r.connect(ctx); err != nil {
		return err
	}
	if r.loopback {
		server, err := startRegistry()
		if err != nil {
			return fmt.Errorf("start a registry on 127.0.0.1: %w", err)
		}
		defer func() { err = errors.Join(err, server.stop()) }()
		r.registry = strings.Replace(publicRegistry, "ghcr.io", server.addr, 1)
		r.say("registry on %s", server.addr)
	}
	for _, step := range []func(context.Context) error{r.build, r.rebuild, r.buildPlugins, r.pushImage, r.pushChart, r.leave} {
		if err := errors.Join(step(ctx), ctx.Err()); err != nil {
			return err
		}
	}
	return r.report(ctx)
}

func (r *release) say(format string, args ...any) {
	_, _ = fmt.Fprintf(r.out, "release: [%4.0fs] %s\n", time.Since(r.start).Seconds(), fmt.Sprintf(format, args...)) // a lost line is no reason to stop
}

// read finds out what is released.
func (r *release) read(ctx context.Context) (err error) {
	if r.root, err = filepath.Abs(r.root); err != nil {
		return err
	}
	if r.commit, err = readCommit(ctx, r.root); err != nil {
		return err
	}
	if r.commit.dirty {
		r.say("the work tree has changes that are not committed; they are not in what is built")
	}
	r.src = filepath.Join(r.work, "src")
	if err := r.commit.export(ctx, r.root, r.src); err != nil {
		return err
	}
	if r.chart, err = loader.Load(filepath.Join(r.src, chartFolder)); err != nil {
		return fmt.Errorf("load chart %s: %w", chartFolder, err)
	}
	if err := checkChart(r.chart, r.tag); err != nil {
		return err
	}
	r.number = r.chart.Metadata.Version
	r.version = "v" + r.number
	r.say("%s, commit %s of %s", r.version, r.commit.hash[:12], r.commit.time.Format(time.DateOnly))
	return nil
}

// connect chooses the registry and the signer, and has their programs built.
func (r *release) connect(ctx context.Context) error {
	r.say("building cosign and syft, unless the build cache has them")
	cosign, err := tool(ctx, r.root, "cosign")
	if err != nil {
		return err
	}
	if r.syft, err = tool(ctx, r.root, "syft"); err != nil {
		return err
	}
	if r.publish {
		r.registry, r.signer = publicRegistry, keylessSigner(cosign, r.identity)
		return nil
	}
	r.loopback = true
	r.signer, err = throwawaySigner(ctx, cosign, r.work)
	return err
}

// build makes the manager and its image for each platform.
func (r *release) build(ctx context.Context) (err error) {
	r.say("building the manager for %v", imagePlatforms)
	if r.managers, err = buildManagers(ctx, r.src, filepath.Join(r.work, "first"), r.version, ""); err != nil {
		return err
	}
	r.images, r.index, err = r.assemble(r.managers)
	return err
}

func (r *release) assemble(managers map[platform]string) (map[platform]v1.Image, v1.ImageIndex, error) {
	images := map[platform]v1.Image{}
	for p, path := range managers {
		manager, err := os.ReadFile(filepath.Clean(path))
		if err != nil {
			return nil, nil, err
		}
		if images[p], err = image(manager, p, r.commit, r.number); err != nil {
			return nil, nil, err
		}
	}
	return images, index(images, r.commit, r.number), nil
}

// rebuild builds the same commit once more, from another folder, and compares.
func (r *release) rebuild(ctx context.Context) error {
	again := filepath.Join(r.work, "the-same-commit-in-another-folder")
	if err := r.commit.export(ctx, r.root, again); err != nil {
		return err
	}
	cache, how := "", "in another folder"
	if r.cold {
		cache, how = filepath.Join(r.work, "cache"), "in another folder, with an empty build cache"
	}
	r.say("building the same commit again, %s", how)
	managers, err := buildManagers(ctx, again, filepath.Join(r.work, "second"), r.version, cache)
	if err != nil {
		return err
	}
	for _, p := range imagePlatforms {
		if err := sameFile(r.managers[p], managers[p]); err != nil {
			return fmt.Errorf("the manager for %s: %w", p, err)
		}
	}
	_, second, err := r.assemble(managers)
	if err != nil {
		return err
	}
	if err := sameDigest(r.index, second); err != nil {
		return fmt.Errorf("the image: %w", err)
	}
	r.say("two builds: the same binaries, the same image")
	return nil
}

func sameFile(a, b string) error {
	first, err := sha256File(a)
	if err != nil {
		return err
	}
	second, err := sha256File(b)
	if err == nil && first != second {
		err = fmt.Errorf("two builds of one commit differ: sha256 %s and %s", first, second)
	}
	return err
}

type digested interface{ Digest() (v1.Hash, error) }

func sameDigest(a, b digested) error {
	first, err := a.Digest()
	if err != nil {
		return err
	}
	second, err := b.Digest()
	if err == nil && first != second {
		err = fmt.Errorf("%s is not %s", second, first)
	}
	return err
}

func (r *release) buildPlugins(ctx context.Context) (err error) {
	r.say("building the plugin for %v", pluginPlatforms)
	if r.files, err = buildPlugins(ctx, r.src, r.work, r.version, r.commit.time); err != nil {
		return err
	}
	manifest, err := krewManifest(r.files, r.version)
	for _, a := range r.files {
		r.rows = append(r.rows, row{what: a.Name, digest: "sha256:" + a.SHA256, size: int64(len(a.data))})
	}
	r.files = append(r.files, newAsset("gpuinv.yaml", manifest))
	return err
}

// leave writes what others go on with: the digests, and the files for the release page.
func (r *release) leave(context.Context) error {
	if r.outputs != "" {
		if err := appendOutputs(r.outputs, r.digests); err != nil {
			return err
		}
	}
	if r.assets == "" {
		return nil
	}
	return writeAssets(r.assets, r.files)
}

func (r *release) report(ctx context.Context) error {
	goVersion, err := output(ctx, command{dir: r.src, name: "go", args: []string{"env", "GOVERSION"}})
	if err != nil {
		return err
	}
	r.say("done, with %s\n", strings.TrimSpace(goVersion))
	return printTable(r.out, r.rows)
}
