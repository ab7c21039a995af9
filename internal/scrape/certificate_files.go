package scrape

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

// fromFiles reads the certificate from two files, again and again: a Secret changes under a pod without notice, and the two
// files do not change at once. Its first refresh comes before its first use.
type fromFiles struct {
	certFile, keyFile string
	log               logr.Logger

	mu      sync.Mutex
	current *tls.Certificate
	err     error     // of the last read
	said    time.Time // when the log last said that there is no certificate yet
}

const (
	// readPeriod is how often the files are read.
	readPeriod = 5 * time.Second
	// waitingPeriod is how often the log says that there is no certificate yet.
	waitingPeriod = 10 * time.Second
)

func (f *fromFiles) certificate() (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current == nil {
		return nil, f.err
	}
	return f.current, nil
}

func (f *fromFiles) run(ctx context.Context) {
	again := time.NewTicker(readPeriod)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			f.refresh(time.Now())
		}
	}
}

// refresh reads the files once, and logs what is new: each trouble once, and while there is no certificate at all every
// waitingPeriod.
func (f *fromFiles) refresh(now time.Time) {
	read, err := f.read()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.err = nil
		f.take(read, now)
		return
	}
	news := f.err == nil || f.err.Error() != err.Error()
	f.err = err
	switch {
	case f.current == nil && (news || now.Sub(f.said) >= waitingPeriod):
		f.said = now
		f.log.Error(err, "No metrics are served: waiting for the certificate")
	case f.current != nil && news:
		f.log.Error(err, "Cannot load the new certificate, keeping the old one", "notAfter", f.current.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
}

// take serves what has been read from now on.
func (f *fromFiles) take(read *tls.Certificate, now time.Time) {
	if f.current != nil && slices.EqualFunc(f.current.Certificate, read.Certificate, bytes.Equal) {
		return
	}
	f.current = read
	f.log.Info("Loaded the certificate", "file", f.certFile, "notAfter", read.Leaf.NotAfter.UTC().Format(time.RFC3339))
	if now.After(read.Leaf.NotAfter) {
		f.log.Info("The certificate has expired: scrapers that verify it will refuse it", "file", f.certFile)
	}
}

func (f *fromFiles) read() (*tls.Certificate, error) {
	cert, err := os.ReadFile(f.certFile)
	if err != nil {
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	key, err := os.ReadFile(f.keyFile)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("use %s with %s: %w", f.certFile, f.keyFile, err)
	}
	return &pair, nil
}
