package scrape

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

const (
	// maxToken is the length of the longest token that is checked. Those of ServiceAccounts have about 1 kB.
	maxToken = 16 << 10
	// logPeriod is how often the log may say that tokens cannot be checked.
	logPeriod = time.Minute
)

// guard passes a request to next if the owner of its token may get the path.
type guard struct {
	checker *checker
	next    http.Handler
	log     logr.Logger

	mu     sync.Mutex
	logged time.Time
}

func newGuard(r reviewer, next http.Handler, log logr.Logger) *guard {
	g := &guard{checker: newChecker(r), next: next, log: log}
	g.checker.failed = g.report
	return g
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		refuse(w, verdict{http.StatusUnauthorized, "no bearer token; send that of a ServiceAccount as \"Authorization: Bearer ...\""})
		return
	}
	if len(token) > maxToken {
		refuse(w, verdict{http.StatusUnauthorized, "the bearer token is too long"})
		return
	}
	source, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		source = r.RemoteAddr
	}
	v, err := g.checker.check(r.Context(), question{source: source, token: token, path: r.URL.Path})
	switch {
	case r.Context().Err() != nil: // the client has gone
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "1")
		refuse(w, verdict{http.StatusTooManyRequests, err.Error() + "; try again later"})
	case err != nil:
		refuse(w, verdict{http.StatusServiceUnavailable, "the API server could not be asked about the bearer token; the operator's log says why"})
	case v.code != http.StatusOK:
		refuse(w, v)
	default:
		g.next.ServeHTTP(w, r)
	}
}

func refuse(w http.ResponseWriter, v verdict) {
	if v.code == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, v.reason, v.code)
}

// report logs why scrapes are refused although they may be allowed, at most once in logPeriod.
func (g *guard) report(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := time.Now(); now.Sub(g.logged) >= logPeriod {
		g.logged = now
		g.log.Error(err, "Cannot check who scrapes, refusing scrapes; the role of the chart has the permissions with metrics.secure=true")
	}
}
