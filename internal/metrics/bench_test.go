package metrics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// counter is a client that only counts bytes.
type counter struct {
	header http.Header
	bytes  int
}

func (c *counter) Header() http.Header         { return c.header }
func (c *counter) WriteHeader(int)             {}
func (c *counter) Write(b []byte) (int, error) { c.bytes += len(b); return len(b), nil }

// BenchmarkScrape measures a whole scrape, with and without per-node series, of a state that stays the same and of one that
// changes at each scrape. Beside NewHandler it measures the same samples through a registry of the client library.
func BenchmarkScrape(b *testing.B) {
	for _, nodes := range []int{100, 1_000, 5_000, 15_000} {
		states := []State{stateOf(bigFleet(nodes)), stateOf(bigFleet(nodes))}
		for _, limit := range []int{0, noLimit} {
			for _, changing := range []bool{false, true} {
				scrapes := 0
				source := func() (State, bool) {
					if changing {
						scrapes++
					}
					return states[scrapes%2], true
				}
				name := fmt.Sprintf("nodes=%d/perNode=%v/changing=%v", nodes, limit > 0, changing)
				b.Run(name+"/handler", func(b *testing.B) {
					c := NewCollector(source, limit, logr.Discard())
					benchmarkHandler(b, NewHandler(prometheus.NewRegistry(), c, logr.Discard()))
				})
				b.Run(name+"/registry", func(b *testing.B) {
					reg := prometheus.NewRegistry()
					reg.MustRegister(plain(NewCollector(source, limit, logr.Discard()).state))
					benchmarkHandler(b, promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
				})
			}
		}
	}
}

func benchmarkHandler(b *testing.B, h http.Handler) {
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	var c counter
	b.ReportAllocs()
	for b.Loop() {
		c = counter{header: http.Header{}}
		h.ServeHTTP(&c, r)
	}
	b.ReportMetric(float64(c.bytes), "bytes/scrape")
}
