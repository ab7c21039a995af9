package check

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

const exposition = "# TYPE gpu_inventory_build_info gauge\ngpu_inventory_build_info{version=\"v1\"} 1\n"

// fakeReader has one inventory, or an error.
type fakeReader struct {
	client.Reader
	inv v1.GpuInventory
	err error
}

func (f fakeReader) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	f.inv.DeepCopyInto(obj.(*v1.GpuInventory))
	return f.err
}

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// operator answers as a replica does: /metrics for the token only.
func operator(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/readyz":
		_, _ = io.WriteString(w, "ok")
	case r.URL.Path == "/broken":
		http.Error(w, "[-]caches-synced failed\nreadyz check failed", http.StatusInternalServerError)
	case r.URL.Path == "/moved":
		http.Redirect(w, r, "/metrics", http.StatusFound)
	case r.URL.Path == "/foreign":
		_, _ = io.WriteString(w, "go_goroutines 7\n")
	case r.TLS != nil && r.Header.Get("Authorization") != "Bearer the-token":
		http.Error(w, "no bearer token", http.StatusUnauthorized)
	case r.TLS == nil && r.Header.Get("Authorization") != "":
		http.Error(w, "a token in plain text", http.StatusBadRequest)
	default:
		_, _ = io.WriteString(w, exposition)
	}
}

func TestRun(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(operator))
	defer plain.Close()
	secure := httptest.NewUnstartedServer(http.HandlerFunc(operator))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	token := file(t, []byte("the-token\n"))
	expired := file(t, []byte("another-token"))
	ca := file(t, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	now := metav1.Now()
	written := fakeReader{inv: v1.GpuInventory{Status: v1.GpuInventoryStatus{ObservedAt: &now}}}
	gr := schema.GroupResource{Group: v1.GroupVersion.Group, Resource: "gpuinventories"}

	cases := map[string]struct {
		options Options
		want    []string // parts of the errors, empty for a check that passes
	}{
		"all is well": {Options{
			ReadyURL: plain.URL + "/readyz", Inventory: "cluster", Reader: written,
			MetricsURL: secure.URL + "/metrics", TokenFile: token, CAFile: ca,
		}, []string{"", "", ""}},
		"metrics in plain text, to which no token is sent":  {Options{MetricsURL: plain.URL + "/metrics", TokenFile: token}, []string{""}},
		"a self-signed certificate, taken":                  {Options{MetricsURL: secure.URL + "/metrics", TokenFile: token, InsecureSkipVerify: true}, []string{""}},
		"a self-signed certificate, verified":               {Options{MetricsURL: secure.URL + "/metrics", TokenFile: token}, []string{"certificate"}},
		"a token that is not accepted":                      {Options{MetricsURL: secure.URL + "/metrics", TokenFile: expired, CAFile: ca}, []string{"401"}},
		"a token file that is missing":                      {Options{MetricsURL: secure.URL + "/metrics", TokenFile: "/none", CAFile: ca}, []string{"--token-file"}},
		"a certificate file that is missing":                {Options{MetricsURL: secure.URL + "/metrics", TokenFile: token, CAFile: "/none"}, []string{"--ca-file"}},
		"a certificate file without one":                    {Options{MetricsURL: secure.URL + "/metrics", TokenFile: token, CAFile: token}, []string{"has no certificate"}},
		"an operator that is not ready":                     {Options{ReadyURL: plain.URL + "/broken"}, []string{"500 Internal Server Error: [-]caches-synced failed"}},
		"metrics of another program":                        {Options{MetricsURL: plain.URL + "/foreign"}, []string{"no gpu_inventory_build_info"}},
		"a redirect, which is not followed":                 {Options{MetricsURL: plain.URL + "/moved"}, []string{"302"}},
		"nobody there":                                      {Options{ReadyURL: "http://127.0.0.1:1/readyz"}, []string{"127.0.0.1:1"}},
		"an inventory without a status":                     {Options{Inventory: "cluster", Reader: fakeReader{}}, []string{"no status"}},
		"an inventory that is missing":                      {Options{Inventory: "x", Reader: fakeReader{err: apierrors.NewNotFound(gr, "x")}}, []string{"inventory.create=true"}},
		"an inventory that cannot be read":                  {Options{Inventory: "x", Reader: fakeReader{err: apierrors.NewForbidden(gr, "x", errors.New("no"))}}, []string{"needs get on gpuinventories"}},
		"one check that fails does not keep others from it": {Options{ReadyURL: plain.URL + "/broken", MetricsURL: plain.URL + "/metrics"}, []string{"500", ""}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			results := Run(t.Context(), tc.options)
			if len(results) != len(tc.want) {
				t.Fatalf("%d results, want %d", len(results), len(tc.want))
			}
			for i, want := range tc.want {
				switch err := results[i].Err; {
				case want == "" && err != nil:
					t.Errorf("%s: %v", results[i].Name, err)
				case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
					t.Errorf("%s: %v, want it to say %q", results[i].Name, err, want)
				case err != nil && strings.Contains(err.Error(), "\n"):
					t.Errorf("%s: more than one line: %q", results[i].Name, err)
				}
			}
		})
	}
}

func TestRunTriesAgainUntilTheTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := &lateReader{at: time.Now().Add(20 * time.Second)}
		if results := Run(t.Context(), Options{Inventory: "x", Reader: reader, Timeout: 30 * time.Second}); results[0].Err != nil {
			t.Errorf("%v, want success after 20 s", results[0].Err)
		}
		began := time.Now()
		reader.at = began.Add(time.Hour)
		if results := Run(t.Context(), Options{Inventory: "x", Reader: reader, Timeout: 30 * time.Second}); results[0].Err == nil {
			t.Error("success although there is no status")
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("took %s, want at most 30 s", took)
		}
	})
}

// lateReader has an inventory whose status comes at a time.
type lateReader struct {
	client.Reader
	at time.Time
}

func (l *lateReader) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	if now := metav1.Now(); now.After(l.at) {
		obj.(*v1.GpuInventory).Status.ObservedAt = &now
	}
	return nil
}
