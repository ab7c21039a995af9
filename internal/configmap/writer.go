package configmap

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/publish"
)

// managedBy is the label, and its value, by which people find what the operator keeps.
const (
	managedByKey = "app.kubernetes.io/managed-by"
	managedBy    = publish.FieldOwner
)

// Record is the record of what was published.
type Record = publish.Record[*corev1.ConfigMap]

// writer is a publish.Writer for the one ConfigMap.
type writer struct {
	*publish.Publisher
	client client.Writer
	cache  cache.Cache
	record *Record
	target types.NamespacedName
}

// +kubebuilder:rbac:groups="",namespace=gpu-inventory,resources=configmaps,resourceNames=gpu-node-status,verbs=create;list;patch;watch

// Read implements publish.Writer.
func (w *writer) Read(ctx context.Context, key types.NamespacedName) (*corev1.ConfigMap, bool, error) {
	var cached corev1.ConfigMap
	err := w.cache.Get(ctx, key, &cached, client.UnsafeDisableDeepCopy) // only read
	if apierrors.IsNotFound(err) {
		created, _ := w.record.Created(key, w.Now())
		return created, true, nil
	}
	if err != nil {
		return nil, true, fmt.Errorf("get configmap %s: %w", key, err)
	}
	return w.record.Newest(&cached), true, nil
}

// Settles implements publish.Writer.
func (w *writer) Settles(stored *corev1.ConfigMap) bool { return stored != nil }

// Compute implements publish.Writer.
func (w *writer) Compute(*corev1.ConfigMap) *publish.Answer {
	missing := w.Inputs.Synced() // asked for first: an input that arrives in between is told as missing, not as read
	return &publish.Answer{Status: inventory.WithMissing(w.Inventory(labels.Everything()), missing)}
}

// Draft implements publish.Writer.
func (w *writer) Draft(stored *corev1.ConfigMap, answer *publish.Answer) (draft publish.Draft[*corev1.ConfigMap], changed bool, err error) {
	data, err := Render(&answer.Status)
	if err != nil || upToDate(stored, data) {
		return draft, false, err
	}
	cm := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.target.Namespace, Name: w.target.Name,
			Labels: map[string]string{managedByKey: managedBy},
		},
		Data: data,
	}
	if stored != nil {
		cm.UID, cm.ResourceVersion = stored.UID, stored.ResourceVersion
	}
	return publish.Draft[*corev1.ConfigMap]{Apply: cm, Into: cm}, true, nil
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

// Patch implements publish.Writer.
func (w *writer) Patch(ctx context.Context, cm *corev1.ConfigMap, apply client.Patch) error {
	return w.client.Patch(ctx, cm, apply, client.FieldOwner(publish.FieldOwner), client.ForceOwnership)
}

// Refused implements publish.Writer. It adds what to do to an error that a retry cannot mend.
func (w *writer) Refused(_ context.Context, key types.NamespacedName, err error) error {
	err = fmt.Errorf("apply configmap %s: %w", key, err)
	if apierrors.IsInvalid(err) {
		return reconcile.TerminalError(fmt.Errorf("%w; if it is immutable, delete it and it will be written anew", err))
	}
	return err
}

// Published implements publish.Writer.
func (w *writer) Published(ctx context.Context, p publish.Publication[*corev1.ConfigMap]) {
	ctrl.LoggerFrom(ctx).Info("Wrote ConfigMap", "target", client.ObjectKeyFromObject(p.Written), "gpuNodes", len(p.Answer.Status.Nodes))
}
