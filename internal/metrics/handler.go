package metrics

import (
	"net/http"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
)

// NewHandler returns a handler that serves the metrics of g and those of c in the text format.
//
// With tens of thousands of per-node series, the client library would spend nearly all of a scrape on checking and encoding
// what has not changed. This handler keeps the text and writes it as it is. It does not compress it, because that would
// cost more than everything else together.
func NewHandler(g prometheus.Gatherer, c *Collector, log logr.Logger) http.Handler {
	others := promhttp.HandlerFor(g, promhttp.HandlerOpts{
		AcceptedFormats:    []expfmt.Format{expfmt.NewFormat(expfmt.TypeTextPlain)},
		DisableCompression: true,
		ErrorHandling:      promhttp.ContinueOnError,
		ErrorLog:           errorLog{log},
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := &statusWriter{ResponseWriter: w}
		others.ServeHTTP(status, r)
		if status.failed {
			return
		}
		inventories, nodes := c.texts()
		for _, texts := range [][][]byte{inventories, nodes} {
			for _, text := range texts {
				if _, err := w.Write(text); err != nil {
					return // the client has gone
				}
			}
		}
	})
}

// statusWriter records whether the response is an error.
type statusWriter struct {
	http.ResponseWriter
	failed bool
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(code int) {
	w.failed = code >= http.StatusBadRequest
	w.ResponseWriter.WriteHeader(code)
}

// errorLog logs the errors of the client library, which passes them as arguments of Println.
type errorLog struct{ log logr.Logger }

// Println implements promhttp.Logger.
func (l errorLog) Println(v ...any) {
	for _, part := range v {
		if err, ok := part.(error); ok {
			l.log.Error(err, "Gather metrics")
		}
	}
}
