package main

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// loopbackRegistry is an OCI registry on a free port of 127.0.0.1 that keeps what it gets in memory.
type loopbackRegistry struct {
	addr   string
	server *http.Server
}

func startRegistry() (*loopbackRegistry, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	quiet := log.New(io.Discard, "", 0)
	r := &loopbackRegistry{
		addr: listener.Addr().String(),
		server: &http.Server{
			Handler:           registry.New(registry.WithReferrersSupport(true), registry.Logger(quiet)),
			ReadHeaderTimeout: 10 * time.Second,
		},
	}
	go func() {
		if err := r.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Printf("registry on %s: %v", r.addr, err)
		}
	}()
	return r, nil
}

func (r *loopbackRegistry) stop() error { return r.server.Close() }
