package watch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// Watcher keeps a fleet current. It is a Runnable of the manager, on leaders and standbys alike, so that a standby takes
// over with warm caches.
type Watcher struct {
	fleet *fleet.Fleet
	log   logr.Logger
	core  coreClient
	nodes *store[*corev1.Node, gpu.Facts]
	pods  *store[*corev1.Pod, fleet.PodHolding] // nil without allocation
	dra   *draWatches                           // nil without DRA

	nodesRead chan struct{} // closed when Nodes have been read

	mu      sync.Mutex
	nodesAt time.Time // when that was
}

// +kubebuilder:rbac:groups="",resources=nodes;pods,verbs=list;watch

// New returns a Watcher for a fleet. With readDRA it reads what DRA drivers publish, when the API server serves it.
func New(cfg *rest.Config, f *fleet.Fleet, readDRA bool, log logr.Logger) (*Watcher, error) {
	core, err := newCoreClient(cfg)
	if err != nil {
		return nil, err
	}
	w := &Watcher{fleet: f, log: log, core: core, nodesRead: make(chan struct{})}
	w.nodes = &store[*corev1.Node, gpu.Facts]{keeper: f.Nodes(), onFirstList: w.onNodesRead}
	if f.Allocation() {
		w.pods = &store[*corev1.Pod, fleet.PodHolding]{keeper: f.Pods(), onFirstList: f.Announce}
	}
	if !readDRA {
		f.WithoutClaims()
		return w, nil
	}
	if w.dra, err = newDRAWatches(cfg, f, log); err != nil {
		return nil, err
	}
	return w, nil
}

// Start implements manager.Runnable.
func (w *Watcher) Start(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { w.nodeReflection().run(ctx, w.log) })
	if w.pods != nil {
		running.Go(func() { w.readPodsAfterNodes(ctx) })
	}
	if w.dra != nil {
		running.Go(func() { w.dra.run(ctx) })
	}
	running.Wait()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (w *Watcher) NeedLeaderElection() bool { return false }

func (w *Watcher) onNodesRead() {
	w.mu.Lock()
	w.nodesAt = time.Now()
	w.mu.Unlock()
	close(w.nodesRead)
	w.fleet.Announce()
}

// readPodsAfterNodes leaves the API server and the CPUs to the Nodes first: they are few, and most of the answer.
func (w *Watcher) readPodsAfterNodes(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-w.nodesRead:
		w.podReflection().run(ctx, w.log)
	}
}

// Patience is how long an answer waits for inputs other than Nodes. An input that cannot be read at all, for want of a
// permission say, must not hold up everything else: after that time the condition Complete names it.
//
// A first answer waits for what DRA drivers publish, which is soon read, and not for Pods, of which there may be a hundred
// thousand. An answer that replaces a stored one waits for Pods too: otherwise a restart would take back for some seconds
// what it says a moment later.
const Patience = 15 * time.Second

// Settling reports whether an input is still being read and Patience has not passed since Nodes were read.
func (w *Watcher) Settling() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.nodesAt.IsZero() && time.Since(w.nodesAt) < Patience && w.Synced() != nil
}

// Synced returns nil when every input has been read once. Otherwise the error says which is missing.
func (w *Watcher) Synced() error {
	return errors.Join(w.NodesSynced(), w.DevicesSynced(), w.HoldersSynced())
}

// NodesSynced is Synced for Nodes alone.
func (w *Watcher) NodesSynced() error {
	if w.nodes.synced.Load() {
		return nil
	}
	return errors.New("Nodes not read yet") //nolint:staticcheck // a kind has a capital
}

// DevicesSynced is Synced for what DRA drivers publish, on which counts depend.
func (w *Watcher) DevicesSynced() error {
	if w.dra == nil {
		return nil
	}
	return w.dra.discovery.synced("resourceslices", "devicetaintrules")
}

// HoldersSynced is Synced for Pods and ResourceClaims, which only say who holds GPUs.
func (w *Watcher) HoldersSynced() error {
	if w.pods == nil {
		return nil
	}
	var errs []error
	if !w.pods.synced.Load() {
		errs = append(errs, errors.New("Pods not read yet")) //nolint:staticcheck // a kind has a capital
	}
	if w.dra != nil {
		errs = append(errs, w.dra.discovery.synced("resourceclaims"))
	}
	return errors.Join(errs...)
}
