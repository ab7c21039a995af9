package metrics

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

func scrape(t *testing.T, h http.Handler, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header = header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestHandlerServesWhatARegistryWould(t *testing.T) {
	cases := map[string]*v1.GpuInventoryStatus{
		"small fleet":          smallFleet(),
		"thousand nodes":       bigFleet(1_000),
		"hostile label values": hostileFleet(),
		"empty status":         {},
	}
	for name, status := range cases {
		t.Run(name, func(t *testing.T) {
			reg := prometheus.NewPedanticRegistry()
			if _, err := NewRecorder(reg, BuildInfo{}, func() bool { return true }); err != nil {
				t.Fatal(err)
			}
			w := scrape(t, NewHandler(reg, collectorOf(stateOf(status)), logr.Discard()), nil)
			got := parse(t, w.Body)

			if err := reg.Register(plain(func() State { return stateOf(status) })); err != nil {
				t.Fatal(err)
			}
			want, err := reg.Gather()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(series(want...), series(slices.Collect(maps.Values(got))...)); diff != "" {
				t.Errorf("series (-registry +handler):\n%s", diff)
			}
			for _, f := range want {
				g := got[f.GetName()]
				if g.GetType() != f.GetType() || g.GetHelp() != f.GetHelp() {
					t.Errorf("%s has type %v and help %q, want %v and %q", f.GetName(), g.GetType(), g.GetHelp(), f.GetType(), f.GetHelp())
				}
			}
		})
	}
}

func TestHandlerFollowsTheState(t *testing.T) {
	state, leads := stateOf(smallFleet()), true
	c := NewCollector(func() (State, bool) { return state, leads }, noLimit, logr.Discard())
	h := NewHandler(prometheus.NewRegistry(), c, logr.Discard())
	if body := scrape(t, h, nil).Body.String(); !strings.Contains(body, `gpu_inventory_node_ready{node="lost"} 0`) {
		t.Errorf("the first scrape does not show the node:\n%s", body)
	}
	next := smallFleet()
	next.Nodes = next.Nodes[1:]
	state = stateOf(next)
	if body := scrape(t, h, nil).Body.String(); strings.Contains(body, `node="lost"`) || !strings.Contains(body, `node="fine"`) {
		t.Errorf("the second scrape still shows the removed node, or not the others:\n%s", body)
	}
	leads = false
	if body := scrape(t, h, nil).Body.String(); body != "" {
		t.Errorf("without the lead the handler serves\n%s", body)
	}
}

func TestHandlerSpeaksTextWhateverIsAskedFor(t *testing.T) {
	h := NewHandler(prometheus.NewRegistry(), collectorOf(stateOf(smallFleet())), logr.Discard())
	for name, header := range map[string]http.Header{
		"nothing":     {},
		"OpenMetrics": {"Accept": {"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"}},
		"protobuf":    {"Accept": {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,*/*;q=0.1"}},
		"gzip":        {"Accept-Encoding": {"gzip"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := scrape(t, h, header)
			if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
				t.Errorf("Content-Type = %q, want text/plain; version=0.0.4", got)
			}
			if got := w.Header().Get("Content-Encoding"); got != "" {
				t.Errorf("Content-Encoding = %q, want none", got)
			}
			if _, ok := parse(t, w.Body)[nameNodes]; !ok {
				t.Errorf("the response has no %s", nameNodes)
			}
		})
	}
}

func TestHandlerServesWhatItCanWhenAnotherMetricFails(t *testing.T) {
	cases := map[string]struct {
		others   []*dto.MetricFamily
		wantCode int
	}{
		"some of the others are there": {
			others:   []*dto.MetricFamily{{Name: new("up"), Type: dto.MetricType_GAUGE.Enum(), Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: new(1.0)}}}}},
			wantCode: http.StatusOK,
		},
		"none of the others is there": {wantCode: http.StatusInternalServerError},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var logged []string
			log := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})
			g := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return tc.others, errors.New("broken collector") })
			w := scrape(t, NewHandler(g, collectorOf(stateOf(smallFleet())), log), nil)
			if w.Code != tc.wantCode {
				t.Errorf("status = %d, want %d", w.Code, tc.wantCode)
			}
			if got, want := strings.Contains(w.Body.String(), nameNodes), tc.wantCode == http.StatusOK; got != want {
				t.Errorf("the inventory is in the response: %v, want %v:\n%s", got, want, w.Body)
			}
			if len(logged) != 1 || !strings.Contains(logged[0], "broken collector") {
				t.Errorf("logged %q, want the error once", logged)
			}
		})
	}
}
