package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/source"
)

// reportPeriod is how often the log says what the operator waits for.
const reportPeriod = 10 * time.Second

// addProbes makes /healthz say that the process is alive, and /readyz that every kind has been read once.
func (op *operator) addProbes(mgr ctrl.Manager) error {
	if err := mgr.AddHealthzCheck("alive", healthz.Ping); err != nil {
		return fmt.Errorf("add healthz check: %w", err)
	}
	synced := func(ctx context.Context) error {
		return errors.Join(op.feed.Synced(), source.Synced(ctx, mgr.GetCache()))
	}
	if err := mgr.AddReadyzCheck("caches-synced", func(r *http.Request) error { return synced(r.Context()) }); err != nil {
		return fmt.Errorf("add readyz check: %w", err)
	}
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return op.reportSync(ctx, synced) })); err != nil {
		return fmt.Errorf("add sync report: %w", err)
	}
	return nil
}

// reportSync logs what the operator waits for until every cache has synced. While an API server cannot be reached the
// watches try again in silence.
func (op *operator) reportSync(ctx context.Context, synced func(context.Context) error) error {
	again := time.NewTicker(reportPeriod)
	defer again.Stop()
	for {
		err := synced(ctx)
		if err == nil {
			op.log.Info("Caches synced")
			return nil
		}
		op.log.Info("Waiting for the API server", "for", err.Error())
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}
