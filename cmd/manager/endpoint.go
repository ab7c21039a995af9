package main

import (
	"fmt"
	"net/http"

	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventoryfile"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/scrape"
)

// addMetrics serves /metrics with a server of our own, because that of controller-runtime lets anybody hold any number of
// connections for as long as they like, and with our handler, which keeps the text of the inventory series: with series for
// each of thousands of nodes the usual one would take several times as long.
func (op *operator) addMetrics(mgr ctrl.Manager) error {
	if op.metricsAddress == "0" {
		return nil
	}
	state := func() (metrics.State, bool) {
		inventories, fleet := op.board.Get()
		return metrics.State{Inventories: inventories, Fleet: fleet, Pools: op.board.Pools()}, op.elector.Leading()
	}
	log := op.log.WithName("metrics")
	server, err := scrape.Listen(scrape.Options{
		Address: op.metricsAddress, Secure: op.metricsSecure, CertDir: op.metricsCertDir,
		Config:  mgr.GetConfig(),
		Handler: metrics.NewHandler(ctrlmetrics.Registry, metrics.NewCollector(state, op.perNodeMetricsLimit, op.log), log),
		Log:     log,
	})
	if err != nil {
		return err
	}
	return server.AddTo(mgr)
}

// addInventoryFile makes the leader apply the GpuInventory of --inventory-file.
func (op *operator) addInventoryFile(mgr ctrl.Manager) error {
	if op.inventory == nil {
		return nil
	}
	applier := &inventoryfile.Applier{
		Client: mgr.GetClient(), Leader: op.elector, Manifest: op.inventory, Log: op.log.WithName("inventory-file"),
	}
	if err := mgr.Add(applier); err != nil {
		return fmt.Errorf("add inventory file: %w", err)
	}
	if err := mgr.AddReadyzCheck("inventory-file", func(*http.Request) error { return applier.Ready() }); err != nil {
		return fmt.Errorf("add readyz check: %w", err)
	}
	return nil
}
