package operator

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// TestTheOperatorWaitsForAnAPIServer starts the whole operator before there is anything that it can read.
func TestTheOperatorWaitsForAnAPIServer(t *testing.T) {
	asked := make(chan string, 100)
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- r.URL.Path:
		default:
		}
		http.Error(w, "not now", http.StatusServiceUnavailable)
	}))
	defer away.Close()
	probes := freeAddress(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, &rest.Config{Host: away.URL}, Options{
			Inputs:       Inputs{Allocation: true, DRA: true},
			ConfigMap:    types.NamespacedName{Namespace: "gpu-inventory", Name: "gpu-node-status"},
			Lease:        types.NamespacedName{Namespace: "gpu-inventory", Name: "gpu-inventory-operator"},
			Metrics:      Metrics{Address: "0"},
			ProbeAddress: probes,
		}, logr.Discard())
	}()

	untilServed(t, "http://"+probes+"/healthz", http.StatusOK)
	untilServed(t, "http://"+probes+"/readyz", http.StatusInternalServerError)
	for path := ""; path != "/api/v1/nodes"; {
		select {
		case path = <-asked:
		case <-time.After(10 * time.Second):
			t.Fatal("nobody asks for Nodes")
		}
	}
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Run() = %v", err)
		}
	case <-time.After(gracePeriod + 10*time.Second):
		t.Error("the operator does not stop")
	}
}

// freeAddress returns an address of this machine that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// untilServed asks for a URL until it answers with a status.
func untilServed(t *testing.T, url string, status int) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for last := ""; ; {
		response, err := http.Get(url)
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if response.StatusCode == status {
				return
			}
			last = response.Status
		} else {
			last = err.Error()
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %s, want %d", url, last, status)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
