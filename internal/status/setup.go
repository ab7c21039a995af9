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
	"github.com/gpu-inventory/gpu-inventory-operator/internal/publish"
)

// Controller publishes to every GpuInventory.
type Controller struct {
	// Publisher is what all outputs share.
	Publisher *publish.Publisher
	// Record is the record of what was published. The manager's cache of GpuInventories must have its Transform.
	Record *Record
}

// SetupWithManager adds the controller to a manager. It watches GpuInventories, the fleet and elections.
func (c Controller) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	w := &writer{Publisher: c.Publisher, client: mgr.GetClient(), events: mgr.GetEventRecorder(publish.FieldOwner), record: c.Record}
	output := &publish.Output[*v1.GpuInventory]{
		Publisher: c.Publisher, Writer: w, Record: c.Record,
		Names: publish.Names{Controller: metrics.ControllerGpuInventory, Output: metrics.OutputStatus, Object: "status of gpuinventory"},
	}
	return ctrl.NewControllerManagedBy(mgr).Named(metrics.ControllerGpuInventory).
		For(&v1.GpuInventory{}, builder.WithPredicates(byOthers(c.Record))).
		WatchesRawSource(c.Publisher.Changes(w.coverage.concerned)).
		WatchesRawSource(c.Publisher.Leader.Elected(func(context.Context) []reconcile.Request { return w.coverage.all() })).
		WithOptions(options).
		Complete(output)
}

// byOthers lets pass what others did to a GpuInventory: a new spec, or a status edited by hand. Our own writes do not wake
// us.
func byOthers(record *Record) predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, after := e.ObjectOld.(*v1.GpuInventory), e.ObjectNew.(*v1.GpuInventory)
			if record.IsEcho(after) {
				return false
			}
			return before.UID != after.UID || before.Generation != after.Generation ||
				!equality.Semantic.DeepEqual(before.Status, after.Status)
		},
		DeleteFunc: func(e event.DeleteEvent) bool {
			record.ForgetWrite(client.ObjectKeyFromObject(e.Object))
			return true
		},
	}
}
