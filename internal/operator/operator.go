package operator

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/configmap"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/leader"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/publish"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/status"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/watch"
)

// gracePeriod bounds how long a stop waits for the writes in flight.
const gracePeriod = leader.WriteTimeout + time.Second

// operator is the parts that have to know each other.
type operator struct {
	Options
	log        logr.Logger
	elector    *leader.Elector
	manager    ctrl.Manager
	publisher  *publish.Publisher
	statuses   *status.Record
	configMaps *configmap.Record

	configMapCache cache.Cache
	cachesStarted  atomic.Bool
}

// Run runs the operator until ctx ends. It waits for an API server that cannot be reached, a CRD that is missing and a
// permission that is refused, and returns no error for them.
func Run(ctx context.Context, cfg *rest.Config, o Options, log logr.Logger) error {
	if o.InstallCRDs {
		if err := installCRD(ctx, cfg, log); err != nil {
			return err
		}
	}
	op, err := build(cfg, o, log)
	if err != nil {
		return err
	}
	return op.run(ctx)
}

// build makes all parts and adds them to a manager.
func build(cfg *rest.Config, o Options, log logr.Logger) (_ *operator, err error) {
	op := &operator{Options: o, log: log, statuses: &status.Record{}, configMaps: &configmap.Record{}, elector: leader.Always(log)}
	if o.Lease.Name != "" {
		if op.elector, err = leader.New(cfg, o.Lease.Namespace, o.Lease.Name, log.WithName("leader")); err != nil {
			return nil, err
		}
	}
	if op.manager, err = op.newManager(cfg); err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	if op.publisher, err = op.newPublisher(); err != nil {
		return nil, err
	}
	op.elector.OnLost(func() {
		op.publisher.EndTerm()
		op.statuses.EndTerm()
		op.configMaps.EndTerm()
	})
	return op, errors.Join(op.addControllers(), op.addInventoryFile(), op.addMetrics(), op.addProbes())
}

// run ends the election only after the manager has stopped, so that the Lease is released after the last write.
func (op *operator) run(ctx context.Context) error {
	electionCtx, endElection := context.WithCancel(context.WithoutCancel(ctx))
	elected := make(chan error, 1)
	go func() { elected <- op.elector.Run(electionCtx) }()
	err := op.manager.Start(ctx)
	endElection()
	if electionErr := <-elected; err == nil {
		err = electionErr
	}
	return err
}

func (op *operator) newManager(cfg *rest.Config) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := v1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	grace := gracePeriod
	return ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                  scheme,
		MapperProvider:          restMapper,
		Cache:                   inventoryCache(status.Transform(op.statuses)),
		Metrics:                 metricsserver.Options{BindAddress: "0"}, // see addMetrics
		HealthProbeBindAddress:  op.ProbeAddress,
		GracefulShutdownTimeout: &grace,
		Controller: config.Controller{
			// Nodes and GpuInventories may stay unreadable for as long as it takes somebody to grant the permission or to
			// install the CRD; /readyz and the log say so meanwhile.
			CacheSyncTimeout: 10 * 365 * 24 * time.Hour,
		},
	})
}

// newPublisher makes a fleet, adds the watches that keep it current, and returns what publishes it.
func (op *operator) newPublisher() (*publish.Publisher, error) {
	recorder, err := op.newRecorder()
	if err != nil {
		return nil, err
	}
	all := fleet.New(op.Inputs.Recognition, op.Inputs.Allocation)
	watcher, err := watch.New(op.manager.GetConfig(), all, op.Inputs.DRA, op.log.WithName("watch"))
	if err != nil {
		return nil, err
	}
	if err := op.manager.Add(watcher); err != nil {
		return nil, fmt.Errorf("add watches: %w", err)
	}
	return &publish.Publisher{
		Fleet: all, Inputs: watcher, Leader: op.elector, Metrics: recorder, Reader: op.manager.GetAPIReader(), Now: time.Now,
	}, nil
}

func (op *operator) addControllers() error {
	statuses := status.Controller{Publisher: op.publisher, Record: op.statuses}
	if err := statuses.SetupWithManager(op.manager, controllerOptions()); err != nil {
		return fmt.Errorf("set up gpuinventory controller: %w", err)
	}
	var err error
	if op.configMapCache, err = newConfigMapCache(op.manager, op.ConfigMap); err != nil {
		return err
	}
	configMaps := configmap.Controller{Publisher: op.publisher, Record: op.configMaps, Cache: op.configMapCache, Target: op.ConfigMap}
	if err := configMaps.SetupWithManager(op.manager, controllerOptions()); err != nil {
		return fmt.Errorf("set up configmap controller: %w", err)
	}
	return nil
}

func newConfigMapCache(mgr ctrl.Manager, key types.NamespacedName) (cache.Cache, error) {
	options := configMapCache(key)
	options.Scheme, options.Mapper = mgr.GetScheme(), mgr.GetRESTMapper()
	c, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("create configmap cache: %w", err)
	}
	if err := mgr.Add(c); err != nil {
		return nil, fmt.Errorf("add configmap cache: %w", err)
	}
	return c, nil
}

// controllerOptions bound the backoff. The default goes up to 16 minutes, far too long to wait after an outage has ended.
func controllerOptions() controller.Options {
	return controller.Options{
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, 30*time.Second),
	}
}
