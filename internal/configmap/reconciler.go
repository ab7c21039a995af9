package configmap

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/leader"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/source"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/status"
)

// managedBy is the label, and its value, by which people find what the operator keeps.
const (
	managedByKey = "app.kubernetes.io/managed-by"
	managedBy    = source.FieldOwner
)

// Reconciler keeps one ConfigMap equal to the inventory of all Nodes.
type Reconciler struct {
	// Client writes to the API server.
	Client client.Writer
	// Cache has the ConfigMap.
	Cache cache.Cache
	// Target names the ConfigMap.
	Target client.ObjectKey
	// Fleet is what the Nodes say, and Feed tells when that changes.
	Fleet *source.Fleet
	Feed  *source.Feed
	// Seeder gives the fleet the memory of earlier processes.
	Seeder *source.Seeder
	// Leader says whether this replica may write.
	Leader *leader.Elector
	// Metrics counts writes.
	Metrics *metrics.Recorder
	// Board gets the inventory of all Nodes, written or not.
	Board *inventory.Board
	// Now is the clock for metrics.
	Now func() time.Time

	own  source.Own[*corev1.ConfigMap]
	pace source.Pace
}

// +kubebuilder:rbac:groups="",namespace=gpu-inventory,resources=configmaps,resourceNames=gpu-node-status,verbs=create;list;patch;watch

// Reconcile renders the inventory of all Nodes and writes the ConfigMap if its text differs.
func (r *Reconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	term, cancel, leading := r.Leader.Term(ctx)
	if !leading {
		return ctrl.Result{}, nil // the source of elections enqueues the key when that changes
	}
	defer cancel()
	outcome, err := r.update(ctx, term)
	return status.Finish(r.Metrics, metrics.ControllerConfigMap, outcome, err, r.Now())
}

// update brings the ConfigMap up to date and says what it took.
func (r *Reconciler) update(ctx, term context.Context) (status.Outcome, error) {
	have, err := r.current(ctx)
	if err != nil {
		return status.Outcome{}, err
	}
	if have != nil && r.Feed.Settling() {
		return status.Later(status.SettleDelay), nil
	}
	if err := r.Seeder.Seed(term); err != nil {
		return status.Outcome{}, err
	}
	missing := r.Feed.Synced() // asked for first: an input that arrives in between is told as missing, not as read
	found := inventory.WithMissing(r.Fleet.Snapshot(labels.Everything()), missing)
	if term.Err() != nil {
		return status.Outcome{}, fmt.Errorf("compute configmap %s: %w", r.Target, context.Cause(term))
	}
	r.Board.PutFleet(&found)
	want, err := Render(&found)
	if err != nil {
		return status.Outcome{}, reconcile.TerminalError(fmt.Errorf("render configmap %s: %w", r.Target, err))
	}
	if upToDate(have, want) {
		return status.Equal, nil
	}
	if wait := r.pace.Next(r.Target, r.Now()); wait > 0 {
		return status.Later(wait), nil
	}
	switch err := r.write(term, have, want); {
	case apierrors.IsConflict(err):
		r.own.Forget(r.Target)
		return status.Collided, nil
	case err != nil:
		return status.Outcome{}, explain(r.Target, err)
	}
	ctrl.LoggerFrom(ctx).Info("Wrote ConfigMap", "target", r.Target, "gpuNodes", len(found.Nodes))
	return status.Written, nil
}

// current is the ConfigMap as it is, as far as this process can know; nil when there is none.
func (r *Reconciler) current(ctx context.Context) (*corev1.ConfigMap, error) {
	var cached corev1.ConfigMap
	err := r.Cache.Get(ctx, r.Target, &cached, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		last, _ := r.own.Unseen(r.Target, r.Now())
		return last, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get configmap %s: %w", r.Target, err)
	}
	return r.own.Newest(&cached), nil
}

// upToDate compares the keys that the operator keeps. Others may add theirs, as server-side apply lets them: taking
// those away would start a fight.
func upToDate(have *corev1.ConfigMap, want map[string]string) bool {
	if have == nil || have.Labels[managedByKey] != managedBy {
		return false
	}
	for k, v := range want {
		if got, ok := have.Data[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// write applies the text. With the resourceVersion of what was read, the API server refuses the late write of a replica
// that has lost the lead.
func (r *Reconciler) write(ctx context.Context, have *corev1.ConfigMap, data map[string]string) error {
	cm := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Target.Namespace, Name: r.Target.Name,
			Labels: map[string]string{managedByKey: managedBy},
		},
		Data: data,
	}
	if have != nil {
		cm.UID, cm.ResourceVersion = have.UID, have.ResourceVersion
	}
	body, err := json.Marshal(cm)
	if err != nil {
		return reconcile.TerminalError(fmt.Errorf("encode configmap: %w", err))
	}
	err = r.Client.Patch(ctx, cm, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(source.FieldOwner), client.ForceOwnership)
	r.Metrics.Wrote(metrics.OutputConfigMap, err)
	if err != nil {
		return err
	}
	r.Metrics.Size(metrics.OutputConfigMap, len(body))
	r.own.Wrote(cm, r.Now())
	return nil
}

// explain adds what to do to the errors that a retry cannot mend.
func explain(target client.ObjectKey, err error) error {
	err = fmt.Errorf("apply configmap %s: %w", target, err)
	if apierrors.IsInvalid(err) {
		return reconcile.TerminalError(fmt.Errorf("%w; if it is immutable, delete it and it will be written anew", err))
	}
	return err
}

// SetupWithManager watches the fleet, the ConfigMap itself and elections; every event leads to the one key.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	one := func(context.Context) []reconcile.Request { return []reconcile.Request{{NamespacedName: r.Target}} }
	toOne := handler.TypedEnqueueRequestsFromMapFunc(func(ctx context.Context, _ *corev1.ConfigMap) []reconcile.Request { return one(ctx) })
	return ctrl.NewControllerManagedBy(mgr).Named(metrics.ControllerConfigMap).
		WatchesRawSource(r.Feed.Changes(func(ctx context.Context, _ source.Change) []reconcile.Request { return one(ctx) })).
		WatchesRawSource(ctrlsource.Kind(r.Cache, &corev1.ConfigMap{}, toOne, r.foreignChanges())).
		WatchesRawSource(r.Leader.Elected(one)).
		WithOptions(options).
		Complete(r)
}

// foreignChanges lets pass what others did to the ConfigMap: our own writes do not wake us.
func (r *Reconciler) foreignChanges() predicate.TypedPredicate[*corev1.ConfigMap] {
	return predicate.TypedFuncs[*corev1.ConfigMap]{
		UpdateFunc: func(e event.TypedUpdateEvent[*corev1.ConfigMap]) bool { return !r.own.IsEcho(e.ObjectNew) },
		DeleteFunc: func(e event.TypedDeleteEvent[*corev1.ConfigMap]) bool {
			r.own.Forget(client.ObjectKeyFromObject(e.Object))
			return true
		},
	}
}
