package scrape

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
)

// inMemory serves handler on connections in memory.
func inMemory(t *testing.T, certs certificates, handler http.Handler) *pipes {
	t.Helper()
	p := newPipes()
	s := newServer(p, certs, handler, logr.Discard())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve() = %v", err)
		}
	}()
	t.Cleanup(func() {
		_ = s.server.Close()
		<-ended
	})
	return p
}

func clientOf(t *testing.T, p *pipes, config *tls.Config) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: p.dial, TLSClientConfig: config, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func fetch(t *testing.T, c *http.Client, method, url string, header http.Header) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is lost
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestServerServesNothingButMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientOf(t, inMemory(t, nil, metricsHandler), nil)
		for _, tc := range []struct {
			method, path string
			want         int
		}{
			{http.MethodGet, Path, http.StatusOK},
			{http.MethodPost, Path, http.StatusMethodNotAllowed},
			{http.MethodGet, "/", http.StatusNotFound},
			{http.MethodGet, "/metrics/x", http.StatusNotFound},
			{http.MethodGet, "/debug/pprof/", http.StatusNotFound},
		} {
			resp, body := fetch(t, c, tc.method, "http://x"+tc.path, nil)
			if resp.StatusCode != tc.want || strings.Contains(body, secret) != (tc.want == http.StatusOK) {
				t.Errorf("%s %s: answer %d %q, want %d", tc.method, tc.path, resp.StatusCode, body, tc.want)
			}
		}
	})
}

func TestServerSpeaksTLSAndHTTP1Only(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := inMemory(t, &selfSigned{host: "pod-1"}, metricsHandler)
		resp, body := fetch(t, clientOf(t, p, &tls.Config{InsecureSkipVerify: true}), http.MethodGet, "https://pod-1"+Path, nil)
		if body != secret || resp.ProtoMajor != 1 || resp.TLS.Version < tls.VersionTLS12 {
			t.Errorf("answer %q by HTTP/%d over TLS %x", body, resp.ProtoMajor, resp.TLS.Version)
		}

		c, err := p.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := tls.Client(c, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}).HandshakeContext(t.Context()); err == nil {
			t.Error("TLS 1.1 is accepted")
		}
		_ = c.Close()

		resp, body = fetch(t, clientOf(t, p, nil), http.MethodGet, "http://pod-1"+Path, nil)
		if resp.StatusCode != http.StatusBadRequest || strings.Contains(body, secret) {
			t.Errorf("plain HTTP on the TLS port: answer %d %q", resp.StatusCode, body)
		}
	})
}

// noCertificate is a directory that is still empty.
type noCertificate struct{}

func (noCertificate) certificate() (*tls.Certificate, error) { return nil, errAway }
func (noCertificate) run(context.Context)                    {}

func TestServerWithoutACertificateServesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientOf(t, inMemory(t, noCertificate{}, metricsHandler), &tls.Config{InsecureSkipVerify: true})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://x"+Path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := c.Do(req); err == nil {
			_ = resp.Body.Close()
			t.Errorf("answer %d without a certificate", resp.StatusCode)
		}
	})
}

func TestServerRefusesAHeaderThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clientOf(t, inMemory(t, nil, metricsHandler), nil)
		resp, body := fetch(t, c, http.MethodGet, "http://x"+Path, http.Header{"X": {strings.Repeat("x", 2*maxHeaderBytes)}})
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("answer %d %q", resp.StatusCode, body)
		}
	})
}

// closedAfter reads until the server closes the connection and says when that was.
func closedAfter(t *testing.T, c net.Conn) time.Duration {
	t.Helper()
	began := time.Now()
	_, _ = io.Copy(io.Discard, c)
	return time.Since(began)
}

func TestServerDropsAClientThatDoesNotEndItsHeader(t *testing.T) {
	for name, certs := range map[string]certificates{"in plain text": nil, "in the TLS handshake": &selfSigned{host: "x"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := inMemory(t, certs, metricsHandler).dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					for _, b := range []byte("GET /metrics HTTP/1.1") {
						if _, err := c.Write([]byte{b}); err != nil {
							return
						}
						time.Sleep(time.Second)
					}
				}()
				if took := closedAfter(t, c); took > readHeaderTimeout+time.Second {
					t.Errorf("the connection was open for %s", took)
				}
				_ = c.Close()
				time.Sleep(time.Minute) // for the writer to notice
			})
		})
	}
}

func TestServerDropsAClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Time, 1)
		big := strings.Repeat("x", 3<<20)
		p := inMemory(t, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.WriteString(w, big)
			if err == nil {
				t.Error("written although nobody reads")
			}
			ended <- time.Now()
		}))
		c, err := p.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if took := (<-ended).Sub(began); took > writeTimeout+time.Second {
			t.Errorf("the answer was given up after %s", took)
		}
		_ = c.Close()
	})
}

func TestListenNamesTheFlagOfAnAddressThatCannotBeHad(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // nothing is lost
	_, err = Listen(Options{Address: taken.Addr().String(), Handler: metricsHandler, Log: logr.Discard()})
	if err == nil || !strings.Contains(err.Error(), taken.Addr().String()) || !strings.Contains(err.Error(), "--metrics-bind-address") {
		t.Errorf("Listen() = %v", err)
	}
}

func TestStopLetsAScrapeEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		s := newServer(p, nil, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, secret)
		}), logr.Discard())
		var running sync.WaitGroup
		running.Go(func() { _ = s.server.Serve(s.listener) })
		running.Go(func() {
			if _, body := fetch(t, clientOf(t, p, nil), http.MethodGet, "http://x"+Path, nil); body != secret {
				t.Errorf("answer %q", body)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), stopTimeout)
		defer cancel()
		if err := s.server.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown() = %v", err)
		}
		running.Wait()
	})
}
