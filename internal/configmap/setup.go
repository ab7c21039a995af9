package configmap

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/publish"
)

// Controller publishes the inventory of all Nodes to one ConfigMap.
type Controller struct {
	// Publisher is what all outputs share.
	Publisher *publish.Publisher
	// Record is the record of what was published.
	Record *Record
	// Cache has the ConfigMap.
	Cache cache.Cache
	// Target names the ConfigMap.
	Target types.NamespacedName
}

// SetupWithManager adds the controller to a manager. It watches the fleet, the ConfigMap itself and elections; every event
// leads to the one key.
func (c Controller) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	output := &publish.Output[*corev1.ConfigMap]{
		Publisher: c.Publisher, Record: c.Record,
		Writer: &writer{Publisher: c.Publisher, client: mgr.GetClient(), cache: c.Cache, record: c.Record, target: c.Target},
		Names:  publish.Names{Controller: metrics.ControllerConfigMap, Output: metrics.OutputConfigMap, Object: "configmap"},
	}
	one := []reconcile.Request{{NamespacedName: c.Target}}
	toOne := handler.TypedEnqueueRequestsFromMapFunc(func(context.Context, *corev1.ConfigMap) []reconcile.Request { return one })
	return ctrl.NewControllerManagedBy(mgr).Named(metrics.ControllerConfigMap).
		WatchesRawSource(c.Publisher.Changes(func(fleet.Change) []reconcile.Request { return one })).
		WatchesRawSource(source.Kind(c.Cache, &corev1.ConfigMap{}, toOne, byOthers(c.Record))).
		WatchesRawSource(c.Publisher.Leader.Elected(func(context.Context) []reconcile.Request { return one })).
		WithOptions(options).
		Complete(output)
}

// byOthers lets pass what others did to the ConfigMap. Our own writes do not wake us.
func byOthers(record *Record) predicate.TypedPredicate[*corev1.ConfigMap] {
	return predicate.TypedFuncs[*corev1.ConfigMap]{
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.ConfigMap]) bool { return !record.IsEcho(e.ObjectNew) },
		DeleteFunc: func(e event.TypedDeleteEvent[*corev1.ConfigMap]) bool {
			record.ForgetWrite(client.ObjectKeyFromObject(e.Object))
			return true
		},
	}
}
