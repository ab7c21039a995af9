package inventoryfile

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/leader"
)

// FieldOwner is the field manager of the fields in the file. The status has another one.
const FieldOwner = "gpu-inventory-operator-config"

// An apply that fails is tried again after minRetry, and then after delays that double up to maxRetry.
const (
	minRetry = time.Second
	maxRetry = 30 * time.Second
)

// Applier applies a manifest at the start of each term of leadership. It is a Runnable of the manager.
type Applier struct {
	// Client writes to the API server.
	Client client.Writer
	// Leader reports when a term begins, and whether this replica may write.
	Leader *leader.Elector
	// Manifest is what to apply.
	Manifest *Manifest
	Log      logr.Logger

	mu   sync.Mutex
	done bool  // the manifest has been applied in this term
	err  error // of the last try in this term
}

// +kubebuilder:rbac:groups=homelab.youngju.dev,resources=gpuinventories,resourceNames=cluster,verbs=create;patch

// Start implements manager.Runnable.
func (a *Applier) Start(ctx context.Context) error {
	elected := make(chan struct{}, 1)
	a.Leader.OnElected(func() {
		a.set(false, nil)
		select {
		case elected <- struct{}{}:
		default: // Start has not received the last one yet
		}
	})
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-elected:
			a.untilApplied(ctx, elected)
		}
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable. The Applier follows elections itself.
func (*Applier) NeedLeaderElection() bool { return false }

// Ready returns an error while this replica leads and has not applied the manifest yet.
func (a *Applier) Ready() error {
	if !a.Leader.Leading() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.done:
		return nil
	case a.err != nil:
		return a.err
	default:
		return fmt.Errorf("gpuinventory %s from %s not applied yet", a.Manifest.Name, a.Manifest.Path)
	}
}

// untilApplied tries until the manifest is applied or this replica does not lead. If a new term begins meanwhile, it starts
// over. It logs an error only if it is of another kind than the last one.
func (a *Applier) untilApplied(ctx context.Context, elected <-chan struct{}) {
	log := a.Log.WithValues("name", a.Manifest.Name, "file", a.Manifest.Path)
	logged := ""
	for delay := minRetry; ; delay = min(2*delay, maxRetry) {
		leading, err := a.apply(ctx)
		if !leading {
			return // Start calls again in the next term
		}
		a.set(err == nil, err)
		if err == nil {
			log.Info("Applied the GpuInventory of the file")
			return
		}
		if kind := kindOf(err); kind != logged {
			logged = kind
			log.Error(err, "Cannot apply the GpuInventory of the file, trying again")
		}
		select {
		case <-ctx.Done():
			return
		case <-elected:
			delay, logged = minRetry/2, "" // the loop doubles the delay
		case <-time.After(delay):
		}
	}
}

func (a *Applier) set(done bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done, a.err = done, err
}

// apply sends the manifest once. It does not compare it with the object first: only the API server knows which fields the
// file owns, and it changes nothing if nothing differs.
func (a *Applier) apply(ctx context.Context) (leading bool, _ error) {
	term, cancel, leading := a.Leader.Term(ctx)
	if !leading {
		return false, nil
	}
	defer cancel()
	inv := &v1.GpuInventory{ObjectMeta: metav1.ObjectMeta{Name: a.Manifest.Name}}
	err := a.Client.Patch(term, inv, client.RawPatch(types.ApplyPatchType, a.Manifest.Body), client.FieldOwner(FieldOwner), client.ForceOwnership)
	return true, explain(a.Manifest, err)
}

// explain adds to an error what to do about it.
func explain(m *Manifest, err error) error {
	hint := ""
	switch {
	case err == nil:
		return nil
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		hint = "; the GpuInventory CRD is not installed: install the chart with crds.install=true, or run with --install-crds"
	case apierrors.IsForbidden(err):
		hint = "; the operator needs create and patch on the GpuInventory of this name, see the roles of the chart"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		hint = "; correct the file and restart the operator"
	}
	return fmt.Errorf("apply gpuinventory %s from %s: %w%s", m.Name, m.Path, err, hint)
}

// kindOf returns the same string for errors of the same kind. Their texts can differ: a connection that fails has another
// port each time.
func kindOf(err error) string {
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return fmt.Sprint(status.Status().Code, status.Status().Message)
	}
	if meta.IsNoMatchError(errors.Unwrap(err)) {
		return "no match"
	}
	return "unreachable"
}
