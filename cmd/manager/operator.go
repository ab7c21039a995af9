package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/configmap"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/leader"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/source"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/status"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/version"
)

// operator is the parts that have to know each other.
type operator struct {
	*options
	log     logr.Logger
	elector *leader.Elector
	board   *inventory.Board
	feed    *source.Feed
	sent    status.Sent

	configMaps    cache.Cache
	cachesStarted atomic.Bool
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
		MapperProvider:          source.RESTMapper,
		Cache:                   source.InventoryCache(op.sent.Transform),
		Metrics:                 metricsserver.Options{BindAddress: "0"}, // see addMetrics
		HealthProbeBindAddress:  op.probeAddress,
		GracefulShutdownTimeout: &grace,
		Controller: config.Controller{
			// Nodes and GpuInventories may stay unreadable for as long as it takes somebody to grant the permission or to
			// install the CRD; /readyz and the log say so meanwhile.
			CacheSyncTimeout: 10 * 365 * 24 * time.Hour,
		},
	})
}

// target names the ConfigMap.
func (op *operator) target() client.ObjectKey {
	return client.ObjectKey{Namespace: op.namespace, Name: op.configMapName}
}

func (op *operator) addReconcilers(mgr ctrl.Manager) error {
	build := metrics.BuildInfo{Version: version.Version(), Revision: version.Revision()}
	recorder, err := metrics.NewRecorder(ctrlmetrics.Registry, build, op.elector.Leading)
	if err != nil {
		return err
	}
	fleet := source.NewFleet(gpu.Options{ExtraResources: op.extraResources}, op.allocation)
	if op.feed, err = source.NewFeed(mgr.GetConfig(), fleet, source.FeedOptions{DRA: op.dra}, op.log.WithName("feed")); err != nil {
		return err
	}
	if op.namespaceMetrics {
		held := func() (holders.Held, bool) {
			all, known := fleet.Namespaces()
			return all, known && op.elector.Leading()
		}
		if err := ctrlmetrics.Registry.Register(metrics.Namespaces{Held: held}); err != nil {
			return fmt.Errorf("register namespace metrics: %w", err)
		}
	}
	seeder := &source.Seeder{Reader: mgr.GetAPIReader(), Fleet: fleet}
	op.elector.OnLost(seeder.Reset)
	if err := mgr.Add(op.feed); err != nil {
		return fmt.Errorf("add feed: %w", err)
	}
	inventories := &status.Reconciler{
		Client: mgr.GetClient(), Fleet: fleet, Feed: op.feed, Seeder: seeder, Leader: op.elector, Metrics: recorder, Board: op.board, Now: time.Now,
		Sent: &op.sent, Events: mgr.GetEventRecorder(source.FieldOwner),
	}
	if err := inventories.SetupWithManager(mgr, controllerOptions()); err != nil {
		return fmt.Errorf("set up gpuinventory controller: %w", err)
	}
	if op.configMaps, err = newConfigMapCache(mgr, op.target()); err != nil {
		return err
	}
	text := &configmap.Reconciler{
		Client: mgr.GetClient(), Cache: op.configMaps, Fleet: fleet, Feed: op.feed, Seeder: seeder, Leader: op.elector, Metrics: recorder, Board: op.board, Now: time.Now,
		Target: op.target(),
	}
	if err := text.SetupWithManager(mgr, controllerOptions()); err != nil {
		return fmt.Errorf("set up configmap controller: %w", err)
	}
	return nil
}

func newConfigMapCache(mgr ctrl.Manager, key client.ObjectKey) (cache.Cache, error) {
	options := source.ConfigMapCache(key)
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

// controllerOptions bound the backoff: the default goes up to 16 minutes, far too long to wait after an outage has ended.
func controllerOptions() controller.Options {
	return controller.Options{
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, 30*time.Second),
	}
}
