package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Proxy is a proxy between a client and the API server. It records every request and can answer some of them itself.
type Proxy struct {
	// Config reaches the API server through the proxy, as the user of the config that StartProxy was given.
	Config *rest.Config

	server *http.Server

	mu       sync.Mutex
	requests []Request
	fault    Fault
	cut      chan struct{} // closed to end the running requests
}

// Request is one request that a client made.
type Request struct {
	// Verb is the Kubernetes verb, such as list, watch or patch.
	Verb string
	// Group, Resource and Subresource are what it is for. Resource is empty for discovery and other paths.
	Group, Resource, Subresource string
	// Namespace and Name are those of the object. Name may come from a field selector.
	Namespace, Name string
	// Path is the path with the query.
	Path string
	// Code is the HTTP status of the answer, or 0 while there is no answer.
	Code int
}

// Write reports whether the request changes something.
func (r Request) Write() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.Verb)
}

// Fault may answer a request instead of the API server, and then returns true. It can use forward to get the answer of the
// API server.
type Fault func(w http.ResponseWriter, r Request, forward func(http.ResponseWriter)) bool

// StartProxy starts a proxy on a loopback port that acts as the user of cfg.
func StartProxy(cfg *rest.Config) (*Proxy, error) {
	target, err := url.Parse(cfg.Host)
	if err != nil {
		return nil, fmt.Errorf("parse host %s: %w", cfg.Host, err)
	}
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("create transport: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	p := &Proxy{Config: &rest.Config{Host: "http://" + listener.Addr().String()}, cut: make(chan struct{})}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,                         // watches must not wait for a full buffer
		ErrorLog:      log.New(io.Discard, "", 0), // it would report clients that go away
	}
	p.server = &http.Server{Handler: p.record(forward), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

// Stop ends the proxy and the watches through it.
func (p *Proxy) Stop() error {
	if err := p.server.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// CutWatches ends all running requests, and so all watches.
func (p *Proxy) CutWatches() {
	p.mu.Lock()
	cut := p.cut
	p.cut = make(chan struct{})
	p.mu.Unlock()
	close(cut)
}

// Requests returns the requests since the last Reset that match, in order.
func (p *Proxy) Requests(match func(Request) bool) []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Request
	for _, r := range p.requests {
		if match(r) {
			out = append(out, r)
		}
	}
	return out
}

// Reset forgets the requests recorded so far.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = nil
}

// SetFault makes the proxy call f first for every request. Nil ends that.
func (p *Proxy) SetFault(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

func (p *Proxy) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := parse(r)
		p.mu.Lock()
		index, fault, cut := len(p.requests), p.fault, p.cut
		p.requests = append(p.requests, req)
		current := &p.requests
		p.mu.Unlock()
		rec := &statusRecorder{ResponseWriter: w, done: func(code int) {
			p.mu.Lock()
			defer p.mu.Unlock()
			// After a Reset, there is another request at this index, or none.
			if index < len(*current) && (*current)[index].Path == req.Path {
				(*current)[index].Code = code
			}
		}}
		if fault != nil && fault(rec, req, func(w http.ResponseWriter) { next.ServeHTTP(w, r) }) {
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go func() {
			select {
			case <-cut:
				cancel()
			case <-ctx.Done():
			}
		}()
		next.ServeHTTP(rec, r.WithContext(ctx))
	})
}

type statusRecorder struct {
	http.ResponseWriter
	done func(code int)
}

func (s *statusRecorder) WriteHeader(code int) {
	s.done(code)
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap lets the reverse proxy flush.
func (s *statusRecorder) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// parse reads a Kubernetes request as the API server's authorizer does.
func parse(r *http.Request) Request {
	req := Request{Path: r.URL.RequestURI()}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		req.Group = parts[1]
		parts = parts[3:]
	default:
		req.Verb = strings.ToLower(r.Method)
		return req
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		req.Namespace = parts[1]
		parts = parts[2:]
	}
	req.Resource = parts[0]
	if len(parts) > 1 {
		req.Name = parts[1]
	}
	if len(parts) > 2 {
		req.Subresource = parts[2]
	}
	req.Verb = verb(r, req.Name != "")
	if name, ok := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name="); ok && req.Name == "" {
		req.Name = name
	}
	return req
}

func verb(r *http.Request, named bool) string {
	switch r.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if named {
			return "delete"
		}
		return "deletecollection"
	}
	switch {
	case r.URL.Query().Get("watch") == "true" || r.URL.Query().Get("watch") == "1":
		return "watch"
	case named:
		return "get"
	default:
		return "list"
	}
}
