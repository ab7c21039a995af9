package source

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

// Feed keeps a Fleet current from an API server. It is a Runnable of the manager, on leaders and standbys alike, so that a
// standby takes over warm.
type Feed struct {
	fleet *Fleet
	log   logr.Logger
	core  coreClient
	nodes *sink[*corev1.Node, gpu.Facts]
	pods  *sink[*corev1.Pod, holding] // nil without allocation
	dra   *draFeed                    // nil without DRA

	nodesRead chan struct{} // closed when Nodes have been read

	mu      sync.Mutex
	nodesAt time.Time // when that was
}

// FeedOptions say what to read.
type FeedOptions struct {
	// DRA reads ResourceSlices when the API server serves them.
	DRA bool
}

// +kubebuilder:rbac:groups="",resources=nodes;pods,verbs=list;watch

// NewFeed is a Feed for fleet.
func NewFeed(cfg *rest.Config, fleet *Fleet, o FeedOptions, log logr.Logger) (*Feed, error) {
	core, err := newCoreClient(cfg)
	if err != nil {
		return nil, err
	}
	f := &Feed{fleet: fleet, log: log, core: core, nodesRead: make(chan struct{})}
	f.nodes = &sink[*corev1.Node, gpu.Facts]{
		reduce: fleet.factsOf,
		key:    func(n *corev1.Node) string { return n.Name },
		set:    fleet.setNode, remove: fleet.removeNode, replace: fleet.replaceNodes,
		announce: f.nodesArrived,
	}
	if fleet.tally != nil {
		f.pods = &sink[*corev1.Pod, holding]{
			reduce: func(p *corev1.Pod) *holding {
				if holds, ok := holders.OfPod(p, fleet.options); ok {
					return &holding{keyOf(p), shared(holds)}
				}
				return nil
			},
			key: func(p *corev1.Pod) string { return keyOf(p) },
			set: fleet.setPod, remove: fleet.removePod, replace: fleet.replacePods, announce: fleet.announce,
		}
	}
	fleet.known.Claims = !o.DRA // without DRA there are none to read
	if o.DRA {
		if f.dra, err = newDRAFeed(cfg, fleet, log); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Start implements manager.Runnable.
func (f *Feed) Start(ctx context.Context) error {
	var running sync.WaitGroup
	running.Go(func() { f.watchNodes().run(ctx, f.log) })
	if f.pods != nil {
		running.Go(func() { f.watchPodsAfterNodes(ctx) })
	}
	if f.dra != nil {
		running.Go(func() { f.dra.run(ctx) })
	}
	running.Wait()
	return nil
}

func (f *Feed) nodesArrived() {
	f.mu.Lock()
	f.nodesAt = time.Now()
	f.mu.Unlock()
	close(f.nodesRead)
	f.fleet.announce()
}

// watchPodsAfterNodes lets the Nodes have the API server and the CPUs to themselves: they are few, and most of the answer.
func (f *Feed) watchPodsAfterNodes(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-f.nodesRead:
		f.watchPods().run(ctx, f.log)
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (f *Feed) NeedLeaderElection() bool { return false }

func (f *Feed) watchNodes() watched {
	return watched{
		plural: "Nodes", object: &corev1.Node{}, sink: f.nodes,
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			var list corev1.NodeList
			return &list, f.core.list(ctx, "nodes", o, &list)
		},
		watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return f.core.watch(ctx, "nodes", o)
		},
	}
}

// watchPods leaves out at the server the pods that hold nothing because they have ended or have no node, and before they
// reach the reflector those that hold no GPU: it would keep a place for each until the whole list is there.
func (f *Feed) watchPods() watched {
	return watched{
		plural: "Pods", object: &corev1.Pod{}, sink: f.pods,
		selector: fields.AndSelectors(
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
			fields.OneTermNotEqualSelector("spec.nodeName", ""),
		),
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			var list corev1.PodList
			err := f.core.list(ctx, "pods", o, &list)
			list.Items = slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return !f.holds(&p) })
			return &list, err
		},
		watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := f.core.watch(ctx, "pods", o)
			if err != nil {
				return nil, err
			}
			return watch.Filter(w, f.onlyHolders), nil
		},
	}
}

// onlyHolders makes of the news of a pod that holds nothing that it is gone, which takes no place. It is passed on, because the
// reflector takes a stream without news for one that has stalled.
func (f *Feed) onlyHolders(e watch.Event) (watch.Event, bool) {
	pod, ok := e.Object.(*corev1.Pod)
	if ok && (e.Type == watch.Added || e.Type == watch.Modified) && !f.holds(pod) {
		e.Type = watch.Deleted
	}
	return e, true
}

func (f *Feed) holds(p *corev1.Pod) bool {
	_, ok := holders.OfPod(p, f.fleet.options)
	return ok
}

// Synced returns nil when every input has been read once. Otherwise the error says which is missing.
func (f *Feed) Synced() error {
	return errors.Join(f.nodesSynced(), f.DevicesSynced(), f.HoldersSynced())
}

func (f *Feed) nodesSynced() error {
	if f.nodes.synced.Load() {
		return nil
	}
	return errors.New("Nodes not read yet") //nolint:staticcheck // a kind has a capital
}

// DevicesSynced is Synced for what DRA drivers publish, on which counts depend.
func (f *Feed) DevicesSynced() error {
	if f.dra == nil {
		return nil
	}
	return f.dra.kinds.synced("resourceslices", "devicetaintrules")
}

// HoldersSynced is Synced for Pods and ResourceClaims, on which only depends who holds GPUs.
func (f *Feed) HoldersSynced() error {
	if f.pods == nil {
		return nil
	}
	var errs []error
	if !f.pods.synced.Load() {
		errs = append(errs, errors.New("Pods not read yet")) //nolint:staticcheck // a kind has a capital
	}
	if f.dra != nil {
		errs = append(errs, f.dra.kinds.synced("resourceclaims"))
	}
	return errors.Join(errs...)
}
