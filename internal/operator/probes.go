package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// reportPeriod is how often the log says what the operator waits for.
const reportPeriod = 10 * time.Second

// addProbes makes /healthz say that the process is alive, and /readyz that every kind has been read once.
func (op *operator) addProbes() error {
	if err := op.manager.AddHealthzCheck("alive", healthz.Ping); err != nil {
		return fmt.Errorf("add healthz check: %w", err)
	}
	synced := func(ctx context.Context) error {
		if !op.cachesStarted.Load() {
			// Asking a cache for a kind makes it watch that kind. Before the cache has been started that must not happen: the
			// manager would wait for all that it watches.
			return errors.New("the caches have not been started")
		}
		return errors.Join(
			op.publisher.Inputs.Synced(),
			readOnce(ctx, op.manager.GetCache(), "GpuInventories", &v1.GpuInventory{}),
			readOnce(ctx, op.configMapCache, "ConfigMaps", &corev1.ConfigMap{}))
	}
	if err := op.manager.AddReadyzCheck("caches-synced", func(r *http.Request) error { return synced(r.Context()) }); err != nil {
		return fmt.Errorf("add readyz check: %w", err)
	}
	if err := op.manager.Add(manager.RunnableFunc(func(ctx context.Context) error { return op.reportSync(ctx, synced) })); err != nil {
		return fmt.Errorf("add sync report: %w", err)
	}
	return nil
}

// reportSync logs what the operator waits for until every cache has synced. While an API server cannot be reached, the
// watches try again without a word.
func (op *operator) reportSync(ctx context.Context, synced func(context.Context) error) error {
	op.cachesStarted.Store(true)
	again := time.NewTicker(reportPeriod)
	defer again.Stop()
	for {
		err := synced(ctx)
		if err == nil {
			op.log.Info("Caches synced")
			releaseMemory()
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
