package status

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// report emits changes as Events. They name neither version of the object, so that the same news about the same node become
// one series instead of one Event each.
func report(recorder events.EventRecorder, inv *v1.GpuInventory, changes []inventory.Change) {
	regarding := &corev1.ObjectReference{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind, Name: inv.Name, UID: inv.UID}
	for _, c := range changes {
		note := inventory.Clip(c.Message, inventory.MaxNote)
		if c.Node == "" {
			recorder.Eventf(regarding, nil, c.Type, c.Reason, c.Action, "%s", note)
			continue
		}
		node := &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: c.Node}
		recorder.Eventf(regarding, node, c.Type, c.Reason, c.Action, "%s", note)
	}
}
