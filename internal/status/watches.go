package status

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// SetupWithManager watches GpuInventories, the Nodes that they cover, and elections.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).Named(metrics.ControllerGpuInventory).
		For(&v1.GpuInventory{}, builder.WithPredicates(r.foreignChanges())).
		Watches(&corev1.Node{}, r.coveringInventories()).
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
			return true
		},
	}
}

// coveringInventories maps a Node event to the inventories that it can change: those that cover the Node, when what the
// Node says about its GPUs is not what it said before.
func (r *Reconciler) coveringInventories() handler.EventHandler {
	enqueue := func(ctx context.Context, q queue, concerned func(labels.Selector) bool) {
		for _, inv := range r.inventories(ctx) {
			// An unusable selector is reported when the inventory itself is reconciled.
			if selector, err := selectorOf(&inv); err == nil && concerned(selector) {
				q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: inv.Name}})
			}
		}
	}
	present := func(ctx context.Context, obj client.Object, q queue) {
		if r.Nodes.IsGPU(obj.(*corev1.Node)) {
			enqueue(ctx, q, func(s labels.Selector) bool { return s.Matches(labels.Set(obj.GetLabels())) })
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { present(ctx, e.Object, q) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { present(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, after := e.ObjectOld.(*corev1.Node), e.ObjectNew.(*corev1.Node)
			changed := gpu.Changed(before, after, r.Nodes.Options)
			if !changed && equality.Semantic.DeepEqual(before.Labels, after.Labels) {
				return
			}
			enqueue(ctx, q, func(s labels.Selector) bool {
				was, is := s.Matches(labels.Set(before.Labels)), s.Matches(labels.Set(after.Labels))
				return was != is || is && changed
			})
		},
	}
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
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: inv.Name}})
	}
	return out
}

// selectorOf is the inventory's node selector; an absent or empty one covers every Node.
func selectorOf(inv *v1.GpuInventory) (labels.Selector, error) {
	selector := inv.Spec.NodeSelector
	if selector == nil {
		return labels.Everything(), nil
	}
	generic := &metav1.LabelSelector{MatchLabels: selector.MatchLabels}
	for _, r := range selector.MatchExpressions {
		generic.MatchExpressions = append(generic.MatchExpressions, metav1.LabelSelectorRequirement(r))
	}
	return metav1.LabelSelectorAsSelector(generic)
}
