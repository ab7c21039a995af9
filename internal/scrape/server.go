package scrape

import (
	"context"
	"crypto/tls"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Path is where metrics are served.
const Path = "/metrics"

// Limits of the server. A scrape takes milliseconds, so they do not affect scrapers.
const (
	readHeaderTimeout = 5 * time.Second // also for the TLS handshake
	readTimeout       = 10 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 2 * time.Minute // a scraper that comes once a minute keeps its connection
	maxHeaderBytes    = maxToken + 4<<10
	maxConnections    = 64
	// stopTimeout is how long a stop waits for running scrapes. The Lease is released only after that.
	stopTimeout = 2 * time.Second
)

// Options say how to serve.
type Options struct {
	// Address is where to listen.
	Address string
	// Secure serves over TLS, and only to those who may get Path. Otherwise everybody gets it in plain text.
	Secure bool
	// CertDir is a directory with tls.crt and tls.key. If it is empty, the certificate is self-signed.
	CertDir string
	// Config is for requests to the API server.
	Config *rest.Config
	// Handler answers the requests that are allowed.
	Handler http.Handler
	Log     logr.Logger
}

// Server serves metrics, on leaders and on other replicas.
type Server struct {
	server   *http.Server
	listener net.Listener
	certs    certificates // nil without TLS
}

// Listen opens the port, so that a port that is taken is an error at the start.
func Listen(o Options) (*Server, error) {
	handler := o.Handler
	var certs certificates
	if o.Secure {
		reviewer, err := newAPIServer(o.Config)
		if err != nil {
			return nil, err
		}
		handler = newGuard(reviewer, handler, o.Log)
		if certs, err = newCertificates(o.CertDir, o.Log); err != nil {
			return nil, err
		}
	}
	accepting, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("listen for scrapes of metrics: %w; see --metrics-bind-address", err)
	}
	return newServer(accepting, certs, handler, o.Log), nil
}

func newCertificates(dir string, log logr.Logger) (certificates, error) {
	if dir != "" {
		files := &fromFiles{certFile: filepath.Join(dir, "tls.crt"), keyFile: filepath.Join(dir, "tls.key"), log: log}
		files.refresh(time.Now())
		return files, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("read host name: %w", err)
	}
	certs := &selfSigned{host: host}
	if _, err := certs.certificate(); err != nil {
		return nil, err
	}
	return certs, nil
}

func newServer(accepting net.Listener, certs certificates, handler http.Handler, logger logr.Logger) *Server {
	mux := http.NewServeMux()
	mux.Handle("GET "+Path, answering(handler))
	s := &Server{certs: certs, listener: &listener{Listener: accepting, max: maxConnections}}
	if certs != nil {
		s.listener = tls.NewListener(s.listener, &tls.Config{
			MinVersion: tls.VersionTLS12,
			NextProtos: []string{"http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				return certs.certificate()
			},
		})
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // HTTP/2 would have many requests on one connection, and get around the limits
	s.server = &http.Server{
		Protocols:         protocols,
		Handler:           mux,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnContext:       withConn,
		ErrorLog:          log.New(debugLog{logger}, "", 0),
	}
	return s
}

// AddTo makes the manager run the server, also before its caches have synced and on replicas that do not lead.
func (s *Server) AddTo(mgr manager.Manager) error {
	timeout := stopTimeout
	// The manager starts this type before the caches, and stops it after everything else.
	serve := &manager.Server{Name: "metrics", Server: s.server, Listener: s.listener, ShutdownTimeout: &timeout}
	if err := mgr.Add(serve); err != nil {
		return fmt.Errorf("add metrics server: %w", err)
	}
	if s.certs == nil {
		return nil
	}
	if err := mgr.Add(renewal{s.certs}); err != nil {
		return fmt.Errorf("add certificate renewal: %w", err)
	}
	check := func(*http.Request) error {
		_, err := s.certs.certificate()
		return err
	}
	if err := mgr.AddReadyzCheck("metrics-certificate", check); err != nil {
		return fmt.Errorf("add readyz check: %w", err)
	}
	return nil
}

// renewal keeps certificates up to date, on replicas that do not lead, too.
type renewal struct{ certs certificates }

// Start implements manager.Runnable.
func (r renewal) Start(ctx context.Context) error {
	r.certs.run(ctx)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (renewal) NeedLeaderElection() bool { return false }

// connKey is the context key of a request's connection.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// answering marks the connection while next answers a request of it, so that the listener does not close it.
func answering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*conn); ok {
			c.setAnswering(true)
			defer c.setAnswering(false)
		}
		next.ServeHTTP(w, r)
	})
}

// debugLog logs what net/http reports about clients, such as a failed handshake or plain HTTP on the TLS port.
type debugLog struct{ log logr.Logger }

// Write implements io.Writer.
func (l debugLog) Write(line []byte) (int, error) {
	l.log.V(1).Info("Scrape failed", "error", strings.TrimSpace(string(line)))
	return len(line), nil
}
