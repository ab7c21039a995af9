package operator

import (
	"fmt"

	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/scrape"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/version"
)

func (op *operator) newRecorder() (*metrics.Recorder, error) {
	build := metrics.BuildInfo{Version: version.Version(), Revision: version.Revision()}
	return metrics.NewRecorder(ctrlmetrics.Registry, build, op.elector.Leading)
}

// addMetrics serves /metrics with a server and a handler of our own. That of controller-runtime lets anybody hold any number
// of connections for as long as they like. The usual handler would take several times as long with series for each of
// thousands of nodes; ours keeps their text.
func (op *operator) addMetrics() error {
	if op.Metrics.Namespaces {
		if err := ctrlmetrics.Registry.Register(metrics.Namespaces{Held: op.heldByNamespace}); err != nil {
			return fmt.Errorf("register namespace metrics: %w", err)
		}
	}
	if op.Metrics.Address == "0" {
		return nil
	}
	log := op.log.WithName("metrics")
	server, err := scrape.Listen(scrape.Options{
		Address: op.Metrics.Address, Secure: op.Metrics.Secure, CertDir: op.Metrics.CertDir,
		Config:  op.manager.GetConfig(),
		Handler: metrics.NewHandler(ctrlmetrics.Registry, metrics.NewCollector(op.state, op.Metrics.PerNodeLimit, op.log), log),
		Log:     log,
	})
	if err != nil {
		return err
	}
	return server.AddTo(op.manager)
}

// state returns the answers to expose; false: this replica does not lead.
func (op *operator) state() (metrics.State, bool) {
	s := metrics.State{Inventories: map[string]*v1.GpuInventoryStatus{}, Pools: map[string][]inventory.PoolState{}}
	for key, answer := range op.statuses.Answers() {
		s.Inventories[key.Name] = &answer.Status
		if len(answer.Pools) > 0 {
			s.Pools[key.Name] = answer.Pools
		}
	}
	if answer := op.configMaps.Answers()[op.ConfigMap]; answer != nil {
		s.Fleet = &answer.Status
	}
	return s, op.elector.Leading()
}

func (op *operator) heldByNamespace() (holders.Held, bool) {
	held, ok := op.publisher.Fleet.HeldByNamespace()
	return held, ok && op.elector.Leading()
}
