package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// What the image says of itself. The Dockerfile says the same; a test compares them.
const (
	imageUser  = "65532:65532"
	entrypoint = "/manager"
	// maxImageSize is our promise: what a node pulls for one platform.
	maxImageSize = 20 << 20
)

// labels are lines about the image, for those who list or scan images.
func labels(c commit, version string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       imageName,
		"org.opencontainers.image.description": "Keeps one answer current: which GPUs a cluster has, which can be used, and why the others cannot.",
		"org.opencontainers.image.source":      sourceURL,
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     version,
		"org.opencontainers.image.revision":    c.hash,
		"org.opencontainers.image.created":     c.time.Format(time.RFC3339),
	}
}

// layer is the whole file system of the image: one file. It is a pure function of its arguments.
func layer(manager []byte, created time.Time) (v1.Layer, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	header := &tar.Header{Typeflag: tar.TypeReg, Name: "manager", Mode: 0o755, Size: int64(len(manager)), ModTime: created, Format: tar.FormatPAX}
	if err := w.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := w.Write(manager); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buf.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithMediaType(types.OCILayer))
}

// image is the image of one platform.
func image(manager []byte, p platform, c commit, version string) (v1.Image, error) {
	l, err := layer(manager, c.time)
	if err != nil {
		return nil, fmt.Errorf("make the layer for %s: %w", p, err)
	}
	created := v1.Time{Time: c.time}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.ConfigFile(base, &v1.ConfigFile{
		OS: p.os, Architecture: p.arch, Created: created,
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{User: imageUser, Entrypoint: []string{entrypoint}, WorkingDir: "/", Labels: labels(c, version)},
	})
	if err != nil {
		return nil, fmt.Errorf("configure the image for %s: %w", p, err)
	}
	return mutate.Append(img, mutate.Addendum{Layer: l, History: v1.History{Created: created, CreatedBy: "COPY /manager /manager"}})
}

// index joins the images of all platforms under one digest.
func index(images map[platform]v1.Image, c commit, version string) v1.ImageIndex {
	base := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range imagePlatforms { // in a fixed order
		base = mutate.AppendManifests(base, mutate.IndexAddendum{
			Add:        images[p],
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
		})
	}
	return mutate.Annotations(base, labels(c, version)).(v1.ImageIndex)
}

// pullSize is what a node transfers for an image: its manifest, its config and its layers, compressed.
func pullSize(img v1.Image) (int64, error) {
	manifest, err := img.Manifest()
	if err != nil {
		return 0, err
	}
	size, err := img.Size()
	if err != nil {
		return 0, err
	}
	size += manifest.Config.Size
	for _, l := range manifest.Layers {
		size += l.Size
	}
	return size, nil
}

// managerOf takes the program back out of an image, and refuses an image with anything else in it.
func managerOf(img v1.Image) ([]byte, error) {
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	if len(layers) != 1 {
		return nil, fmt.Errorf("the image has %d layers: want 1", len(layers))
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		return nil, err
	}
	defer content.Close() //nolint:errcheck // read to its end below
	r := tar.NewReader(content)
	header, err := r.Next()
	if err != nil {
		return nil, fmt.Errorf("read the layer: %w", err)
	}
	if "/"+header.Name != entrypoint || header.Mode != 0o755 {
		return nil, fmt.Errorf("the layer has %s with mode %o: want %s with 755", header.Name, header.Mode, entrypoint)
	}
	manager, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read %s in the layer: %w", header.Name, err)
	}
	if next, err := r.Next(); err != io.EOF {
		return nil, fmt.Errorf("the layer has more than %s (%v, %w)", entrypoint, next, err)
	}
	return manager, nil
}
