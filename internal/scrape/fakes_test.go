package scrape

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

var errAway = errors.New("the API server is away")

// fakeReviews answers by token: "good" may scrape, "other" is somebody without the permission, the rest nobody.
type fakeReviews struct {
	hold chan struct{} // nil: answer at once

	mu    sync.Mutex
	err   error
	asked []string
}

func (f *fakeReviews) review(ctx context.Context, token, _ string) (verdict, error) {
	f.mu.Lock()
	f.asked = append(f.asked, token)
	err := f.err
	f.mu.Unlock()
	if f.hold != nil {
		select {
		case <-f.hold:
		case <-ctx.Done():
			return verdict{}, ctx.Err()
		}
	}
	switch {
	case err != nil:
		return verdict{}, err
	case token == "good":
		return verdict{code: http.StatusOK}, nil
	case token == "other":
		return verdict{http.StatusForbidden, "other may not"}, nil
	default:
		return verdict{http.StatusUnauthorized, "who is that"}, nil
	}
}

func (f *fakeReviews) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *fakeReviews) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

// pipes is a listener of connections in memory, for tests in which time is not real.
type pipes struct {
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func newPipes() *pipes { return &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.incoming <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.incoming:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// logLines is a logger and what it has logged.
func logLines(t *testing.T) (logr.Logger, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var lines []string
	log := funcr.New(func(_, args string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, args)
	}, funcr.Options{})
	return log, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), lines...)
	}
}
