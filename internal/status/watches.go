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
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/source"
)

// SetupWithManager watches GpuInventories, the fleet and elections.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).Named(metrics.ControllerGpuInventory).
		For(&v1.GpuInventory{}, builder.WithPredicates(r.foreignChanges())).
		WatchesRawSource(r.Feed.Changes(r.concerned)).
		WatchesRawSource(r.Leader.Elected(r.everyInventory)).
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
			return true
		},
	}
}

// concerned maps a change of a Node to the inventories that it can alter.
func (r *Reconciler) concerned(ctx context.Context, change source.Change) []reconcile.Request {
	var out []reconcile.Request
	for _, inv := range r.inventories(ctx) {
		selector, err := inventory.Selector(inv.Spec.NodeSelector)
		if err != nil {
			continue // reported when the inventory itself is reconciled
		}
		if change.Concerns(selector) || len(inv.Spec.Expected) > 0 && change.Moves(selector) {
			out = append(out, requestFor(&inv))
		}
	}
	return out
}

// inventories lists the GpuInventories in the cache. Before that cache exists there are none to tell: each one is
// reconciled when it first arrives there.
func (r *Reconciler) inventories(ctx context.Context) []v1.GpuInventory {
	var list v1.GpuInventoryList
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).V(1).Info("GpuInventories cannot be listed yet", "error", err.Error())
		return nil
	}
	return list.Items
}

func (r *Reconciler) everyInventory(ctx context.Context) []reconcile.Request {
	var out []reconcile.Request
	for _, inv := range r.inventories(ctx) {
		out = append(out, requestFor(&inv))
	}
	return out
}

func requestFor(inv *v1.GpuInventory) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(inv)}
}
