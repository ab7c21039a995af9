package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

// measureStart measures the program, and how long after its start it makes the first request.
func (b *bench) measureStart(ctx context.Context) error {
	info, err := os.Stat(b.manager)
	if err != nil {
		return err
	}
	b.report.binary = float64(info.Size()) / (1 << 20)
	if b.report.reflectMethods, err = reflectMethods(ctx, module+"/cmd/manager"); err != nil {
		return err
	}
	for range 11 {
		took, err := b.firstRequest(ctx)
		if err != nil {
			return err
		}
		b.report.firstRequest = append(b.report.firstRequest, took)
	}
	return nil
}

// firstRequest returns how long after its start the manager makes the first request, to a server that only refuses.
func (b *bench) firstRequest(ctx context.Context) (time.Duration, error) {
	first := make(chan time.Time, 1)
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		once.Do(func() { first <- time.Now() })
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	kubeconfig := filepath.Join(b.dir, "nowhere")
	if err := harness.WriteKubeconfig(&rest.Config{Host: server.URL}, kubeconfig); err != nil {
		return 0, err
	}
	p, err := start(b.manager, nil, "--kubeconfig="+kubeconfig, "--namespace="+namespace, "--metrics-bind-address=0", "--health-probe-bind-address=0")
	if err != nil {
		return 0, err
	}
	defer func() {
		_ = p.cmd.Process.Kill() // it has nothing to clean up
		<-p.done
	}()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case at := <-first:
		return at.Sub(p.started), nil
	case <-time.After(10 * time.Second):
		return 0, errors.Join(errors.New("no request within 10 s"), p.alive())
	}
}
