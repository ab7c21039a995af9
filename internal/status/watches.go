package status

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/source"
)

// SetupWithManager watches GpuInventories, the fleet and elections.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).Named(metrics.ControllerGpuInventory).
		For(&v1.GpuInventory{}, builder.WithPredicates(r.foreignChanges())).
		WatchesRawSource(r.Feed.Changes(func(_ context.Context, c source.Change) []reconcile.Request { return r.tracked.concerned(c) })).
		WatchesRawSource(r.Leader.Elected(func(context.Context) []reconcile.Request { return r.tracked.all() })).
		WithOptions(options).
		Complete(r)
}

// foreignChanges lets pass what others did to a GpuInventory: a new spec, or a status edited by hand. Our own writes do
// not wake us.
func (r *Reconciler) foreignChanges() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, after := e.ObjectOld.(*v1.GpuInventory), e.ObjectNew.(*v1.GpuInventory)
			if r.own.IsEcho(after) {
				return false
			}
			return before.UID != after.UID || before.Generation != after.Generation ||
				!equality.Semantic.DeepEqual(before.Status, after.Status)
		},
		DeleteFunc: func(e event.DeleteEvent) bool {
			r.own.Forget(client.ObjectKeyFromObject(e.Object))
			r.pace.Forget(client.ObjectKeyFromObject(e.Object))
			r.told.forget(e.Object.GetName())
			r.Sent.forget(e.Object.GetName())
			return true
		},
	}
}
