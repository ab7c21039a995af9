package status

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/publish"
)

// writer is a publish.Writer for statuses.
type writer struct {
	*publish.Publisher
	client   client.Client
	events   events.EventRecorder
	record   *Record
	coverage coverage
}

// Record is the record of what was published.
type Record = publish.Record[*v1.GpuInventory]

// +kubebuilder:rbac:groups=homelab.youngju.dev,resources=gpuinventories,verbs=list;watch
// +kubebuilder:rbac:groups=homelab.youngju.dev,resources=gpuinventories/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Read implements publish.Writer. It keeps track of which GpuInventories there are.
func (w *writer) Read(ctx context.Context, key types.NamespacedName) (*v1.GpuInventory, bool, error) {
	var cached v1.GpuInventory
	err := w.client.Get(ctx, key, &cached, client.UnsafeDisableDeepCopy) // only read
	if apierrors.IsNotFound(err) {
		w.coverage.remove(key.Name)
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("get gpuinventory %s: %w", key.Name, err)
	}
	w.coverage.set(&cached)
	return w.record.Newest(&cached), true, nil
}

// Settles implements publish.Writer.
func (w *writer) Settles(inv *v1.GpuInventory) bool { return inv.Status.ObservedAt != nil }

// Compute implements publish.Writer.
func (w *writer) Compute(inv *v1.GpuInventory) *publish.Answer {
	selector, err := inventory.Selector(inv.Spec.NodeSelector)
	if err != nil {
		message := "spec.nodeSelector cannot be used, nothing was counted: " + err.Error()
		return &publish.Answer{Status: inventory.Unusable(v1.ConditionReasonInvalidSelector, message)}
	}
	// What is missing is asked for first: an input that arrives in between is told as missing, not as read.
	devices, holders := w.Inputs.DevicesSynced(), w.Inputs.HoldersSynced()
	counted := inventory.WithMissing(w.Inventory(selector), devices)
	found, pools := inventory.WithExpected(counted, inv.Spec.Expected, w.Fleet.Labels)
	return &publish.Answer{Status: inventory.WithMissing(found, holders), Pools: pools}
}

// Draft implements publish.Writer.
func (w *writer) Draft(inv *v1.GpuInventory, answer *publish.Answer) (publish.Draft[*v1.GpuInventory], bool, error) {
	fitting, err := inventory.Fit(answer.Status, inventory.MaxBytes)
	if err != nil {
		return publish.Draft[*v1.GpuInventory]{}, false, err
	}
	next, changed := inventory.Next(inv.Status, fitting, inv.Generation, w.Now())
	return publish.Draft[*v1.GpuInventory]{
		Apply: statusApply{
			metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind},
			map[string]any{"name": inv.Name, "uid": inv.UID, "resourceVersion": inv.ResourceVersion},
			next,
		},
		Into:   &v1.GpuInventory{ObjectMeta: metav1.ObjectMeta{Name: inv.Name}},
		Shared: &v1.GpuInventory{Status: next},
	}, changed, nil
}

// statusApply is a GpuInventory without a spec.
type statusApply struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        map[string]any        `json:"metadata"`
	Status          v1.GpuInventoryStatus `json:"status"`
}

// Patch implements publish.Writer.
func (w *writer) Patch(ctx context.Context, inv *v1.GpuInventory, apply client.Patch) error {
	if err := w.client.Status().Patch(ctx, inv, apply, client.FieldOwner(publish.FieldOwner), client.ForceOwnership); err != nil {
		return err
	}
	share(w.record, inv)
	return nil
}

// Refused implements publish.Writer.
func (w *writer) Refused(ctx context.Context, key types.NamespacedName, err error) error {
	if apierrors.IsNotFound(err) {
		// Deleted meanwhile, or the CRD has gone: the return of either is an event of its own.
		ctrl.LoggerFrom(ctx).Info("Not written: the object, or its CRD, has been deleted")
		return nil
	}
	return fmt.Errorf("apply status of gpuinventory %s: %w", key.Name, err)
}

// Published implements publish.Writer.
func (w *writer) Published(ctx context.Context, p publish.Publication[*v1.GpuInventory]) {
	before := &p.Stored.Status
	if p.Before != nil {
		before = &p.Before.Status // with the rows that were left out of the stored status for its size
	}
	changes := inventory.Aggregate(inventory.Changes(before, &p.Answer.Status))
	report(w.events, p.Written, changes)
	s := &p.Written.Status
	ctrl.LoggerFrom(ctx).Info("Wrote status", "gpuNodes", s.TotalGpuNodes, "readyGpuNodes", s.ReadyGpuNodes, "events", len(changes))
}
