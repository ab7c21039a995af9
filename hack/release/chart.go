package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	helmregistry "helm.sh/helm/v3/pkg/registry"
)

// checkChart compares the chart with what is about to be released: a chart that names another version would install another image.
func checkChart(c *chart.Chart, tag string) error {
	version := c.Metadata.Version
	if c.Metadata.AppVersion != version {
		return fmt.Errorf("the chart has version %s and appVersion %s: a release has one number; set both in Chart.yaml to it", version, c.Metadata.AppVersion)
	}
	if tag != "" && tag != "v"+version {
		return fmt.Errorf("the tag is %s and the chart has version %s: tag v%s, or set version and appVersion in a commit before the tag", tag, version, version)
	}
	values, _ := c.Values["image"].(map[string]any)
	if want := publicRegistry + "/" + imageName; values["repository"] != want {
		return fmt.Errorf("the chart has image.repository %v: the image is released as %s; set it in values.yaml", values["repository"], want)
	}
	return nil
}

// packageChart is helm package, with the time of the commit in place of the clock's, so that it gives the same bytes each time.
func packageChart(c *chart.Chart, work string, created time.Time) ([]byte, error) {
	dir, err := os.MkdirTemp(work, "chart-")
	if err != nil {
		return nil, err
	}
	path, err := chartutil.Save(c, dir)
	if err != nil {
		return nil, fmt.Errorf("package chart %s: %w", c.Name(), err)
	}
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	return setTimes(file, created)
}

// setTimes rewrites a .tgz with one time for all its files.
func setTimes(tgz io.Reader, t time.Time) ([]byte, error) {
	unzipped, err := gzip.NewReader(tgz)
	if err != nil {
		return nil, fmt.Errorf("read archive: %w", err)
	}
	var files []archiveFile
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read archive: %w", err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("read %s in archive: %w", header.Name, err)
		}
		files = append(files, archiveFile{name: header.Name, mode: header.Mode, data: data})
	}
	return tgzOf(files, t)
}

type archiveFile struct {
	name string
	mode int64
	data []byte
}

// tgzOf is a .tgz whose bytes depend on the arguments alone.
func tgzOf(files []archiveFile, t time.Time) ([]byte, error) {
	var buf bytes.Buffer
	zipper, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(zipper)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: t, Format: tar.FormatPAX}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("archive %s: %w", f.name, err)
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, fmt.Errorf("archive %s: %w", f.name, err)
		}
	}
	if err := errors.Join(w.Close(), zipper.Close()); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	return buf.Bytes(), nil
}

// helmClient is what helm push and helm pull use.
func helmClient(plainHTTP bool) (*helmregistry.Client, error) {
	opts := []helmregistry.ClientOption{helmregistry.ClientOptEnableCache(true)}
	if plainHTTP {
		opts = append(opts, helmregistry.ClientOptPlainHTTP())
	}
	return helmregistry.NewClient(opts...)
}

// pushChart pushes the archive, pulls it back as helm does, and returns the digest of its manifest.
func pushChart(client *helmregistry.Client, archive []byte, ref string, created time.Time) (string, error) {
	pushed, err := client.Push(archive, ref, helmregistry.PushOptCreationTime(created.Format(time.RFC3339)))
	if err != nil {
		return "", fmt.Errorf("push chart %s: %w", ref, err)
	}
	pulled, err := client.Pull(ref, helmregistry.PullOptWithChart(true))
	if err != nil {
		return "", fmt.Errorf("pull chart %s: %w", ref, err)
	}
	if pulled.Manifest.Digest != pushed.Manifest.Digest {
		return "", fmt.Errorf("chart %s: pushed %s, pulled %s", ref, pushed.Manifest.Digest, pulled.Manifest.Digest)
	}
	if !bytes.Equal(pulled.Chart.Data, archive) {
		return "", fmt.Errorf("chart %s: the archive pulled is not the one pushed", ref)
	}
	if _, err := loader.LoadArchive(bytes.NewReader(pulled.Chart.Data)); err != nil {
		return "", fmt.Errorf("chart %s, as pulled: %w", ref, err)
	}
	return pushed.Manifest.Digest, nil
}
