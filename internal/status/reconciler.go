package status

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/leader"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/source"
)

// Reconciler keeps the status of every GpuInventory current.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Fleet is what the Nodes say, and Feed tells when that changes.
	Fleet *source.Fleet
	Feed  *source.Feed
	// Seeder gives the fleet the memory of earlier processes.
	Seeder *source.Seeder
	// Leader says whether this replica may write.
	Leader *leader.Elector
	// Events reports changes.
	Events events.EventRecorder
	// Metrics counts writes.
	Metrics *metrics.Recorder
	// Board gets every answer, written or not.
	Board *inventory.Board
	// Sent knows what was sent, for the cache to share.
	Sent *Sent
	// Now is the clock for the times in a status.
	Now func() time.Time

	own     source.Own[*v1.GpuInventory]
	pace    source.Pace
	tracked tracker
	told    told
}

// +kubebuilder:rbac:groups=homelab.youngju.dev,resources=gpuinventories,verbs=list;watch
// +kubebuilder:rbac:groups=homelab.youngju.dev,resources=gpuinventories/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile computes the status and writes it if its content changed.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	inv, err := r.read(ctx, req.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	term, cancel, leading := r.Leader.Term(ctx)
	if !leading {
		return ctrl.Result{}, nil // the source of elections enqueues everything when that changes
	}
	defer cancel()
	outcome, err := r.update(ctx, term, inv)
	return Finish(r.Metrics, metrics.ControllerGpuInventory, outcome, err, r.Now())
}

// read gets one GpuInventory and keeps track of which there are, on standbys too; nil: it is gone.
func (r *Reconciler) read(ctx context.Context, name string) (*v1.GpuInventory, error) {
	var cached v1.GpuInventory
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, &cached, client.UnsafeDisableDeepCopy) // only read
	if apierrors.IsNotFound(err) {
		r.tracked.remove(name)
		r.Board.Put(name, nil)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get gpuinventory %s: %w", name, err)
	}
	r.tracked.set(&cached)
	return r.own.Newest(&cached), nil
}

// update brings one GpuInventory up to date and says what it took.
func (r *Reconciler) update(ctx, term context.Context, inv *v1.GpuInventory) (Outcome, error) {
	if inv == nil {
		return Gone, nil
	}
	if inv.Status.ObservedAt != nil && r.Feed.Settling() {
		return Later(SettleDelay), nil
	}
	if err := r.Seeder.Seed(term); err != nil {
		return Outcome{}, err
	}
	found, pools := r.find(inv)
	if term.Err() != nil {
		return Outcome{}, fmt.Errorf("compute status of gpuinventory %s: %w", inv.Name, context.Cause(term))
	}
	r.Board.Put(inv.Name, &found, pools...)
	fitting, err := inventory.Fit(found, inventory.MaxBytes)
	if err != nil {
		return Outcome{}, reconcile.TerminalError(err)
	}
	next, changed := inventory.Next(inv.Status, fitting, inv.Generation, r.Now())
	if !changed {
		return Equal, nil
	}
	key := client.ObjectKeyFromObject(inv)
	if wait := r.pace.Next(key, r.Now()); wait > 0 {
		return Later(wait), nil
	}
	written, err := r.write(term, inv, next)
	switch {
	case apierrors.IsConflict(err):
		r.own.Forget(key)
		return Collided, nil
	case apierrors.IsNotFound(err):
		// Deleted meanwhile, or the CRD has gone: the return of either is an event of its own.
		ctrl.LoggerFrom(ctx).Info("Not written: the object, or its CRD, has been deleted")
		return Gone, nil
	case err != nil:
		return Outcome{}, fmt.Errorf("apply status of gpuinventory %s: %w", inv.Name, err)
	}
	changes := inventory.Aggregate(inventory.Changes(r.told.before(inv), &found))
	r.own.Wrote(written, r.Now())
	r.told.set(written, &found)
	r.report(written, changes)
	ctrl.LoggerFrom(ctx).Info("Wrote status", "gpuNodes", next.TotalGpuNodes, "readyGpuNodes", next.ReadyGpuNodes, "events", len(changes))
	return Written, nil
}

// find computes the content of the inventory's status.
func (r *Reconciler) find(inv *v1.GpuInventory) (v1.GpuInventoryStatus, []inventory.PoolState) {
	selector, err := inventory.Selector(inv.Spec.NodeSelector)
	if err != nil {
		return inventory.Unusable(v1.ConditionReasonInvalidSelector, "spec.nodeSelector cannot be used, nothing was counted: "+err.Error()), nil
	}
	// What is missing is asked for first: an input that arrives in between is told as missing, not as read.
	devices, holders := r.Feed.DevicesSynced(), r.Feed.HoldersSynced()
	counted := inventory.WithMissing(r.Fleet.Snapshot(selector), devices)
	found, pools := inventory.WithExpected(counted, inv.Spec.Expected, r.Fleet.Labels)
	return inventory.WithMissing(found, holders), pools
}

// write applies the status. The API server refuses an apply without apiVersion and kind, and the resourceVersion makes it
// refuse the late write of a replica that has lost the lead.
func (r *Reconciler) write(ctx context.Context, inv *v1.GpuInventory, status v1.GpuInventoryStatus) (*v1.GpuInventory, error) {
	patch := struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        map[string]any        `json:"metadata"`
		Status          v1.GpuInventoryStatus `json:"status"`
	}{
		metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind},
		map[string]any{"name": inv.Name, "uid": inv.UID, "resourceVersion": inv.ResourceVersion},
		status,
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, reconcile.TerminalError(fmt.Errorf("encode status: %w", err))
	}
	r.Sent.sending(inv.Name, &status)
	written := &v1.GpuInventory{ObjectMeta: metav1.ObjectMeta{Name: inv.Name}}
	err = r.Client.Status().Patch(ctx, written, client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(source.FieldOwner), client.ForceOwnership)
	r.Metrics.Wrote(metrics.OutputStatus, err)
	if err == nil {
		r.Sent.share(written)
		r.Metrics.Size(metrics.OutputStatus, len(body))
	}
	return written, err
}

// report emits the Events of a write. They name neither version of the object, so that the same news about the same node
// become one series instead of one Event each.
func (r *Reconciler) report(inv *v1.GpuInventory, changes []inventory.Change) {
	regarding := &corev1.ObjectReference{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind, Name: inv.Name, UID: inv.UID}
	for _, c := range changes {
		if c.Node == "" {
			r.Events.Eventf(regarding, nil, c.Type, c.Reason, c.Action, "%s", inventory.Clip(c.Message, inventory.MaxNote))
			continue
		}
		node := &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: c.Node}
		r.Events.Eventf(regarding, node, c.Type, c.Reason, c.Action, "%s", inventory.Clip(c.Message, inventory.MaxNote))
	}
}
