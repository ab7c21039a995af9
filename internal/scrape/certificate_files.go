package scrape

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
)

// fromFiles serves the certificate in two files and reads them periodically: a mounted Secret changes without notice, and
// the two files may not change at the same moment. Call refresh before the first use.
//
// It is not the certwatcher of controller-runtime, for two reasons. That one compares only the leaf and the key, so a Secret
// to which a missing intermediate certificate is added would not be served until a restart. And while a file cannot be
// read, it logs an error every ten seconds; here each error is logged once.
type fromFiles struct {
	certFile, keyFile string
	log               logr.Logger

	mu      sync.Mutex
	current *tls.Certificate
	err     error     // of the last read
	logged  time.Time // when the log last said that there is no certificate yet
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
	wait.UntilWithContext(ctx, func(context.Context) { f.refresh(time.Now()) }, readPeriod)
}

// refresh reads the files once. The certificate that is served stays until there is another pair that works.
func (f *fromFiles) refresh(now time.Time) {
	read, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.fail(fmt.Errorf("load %s with %s: %w", f.certFile, f.keyFile, err), now)
		return
	}
	f.err = nil
	if f.current != nil && slices.EqualFunc(f.current.Certificate, read.Certificate, bytes.Equal) {
		return
	}
	f.current = &read
	f.log.Info("Loaded the certificate", "file", f.certFile, "notAfter", read.Leaf.NotAfter.UTC().Format(time.RFC3339))
	if now.After(read.Leaf.NotAfter) {
		f.log.Info("The certificate has expired: scrapers that verify it will refuse it", "file", f.certFile)
	}
}

// fail keeps an error, and logs it unless it is the same as before. While there is no certificate at all, it is logged
// every waitingPeriod.
func (f *fromFiles) fail(err error, now time.Time) {
	isNew := f.err == nil || f.err.Error() != err.Error()
	f.err = err
	switch {
	case f.current == nil && (isNew || now.Sub(f.logged) >= waitingPeriod):
		f.logged = now
		f.log.Error(err, "No metrics are served: waiting for the certificate")
	case f.current != nil && isNew:
		f.log.Error(err, "Cannot load the new certificate, keeping the old one", "notAfter", f.current.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
}
