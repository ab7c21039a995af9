package source

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/go-logr/logr"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	resourcev1client "k8s.io/client-go/kubernetes/typed/resource/v1"
	resourcev1beta1client "k8s.io/client-go/kubernetes/typed/resource/v1beta1"
	resourcev1beta2client "k8s.io/client-go/kubernetes/typed/resource/v1beta2"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

const resourceGroup = "resource.k8s.io"

// discoverEvery is how often the API server is asked what it serves of DRA: an upgrade may bring it, or a newer version of
// it, and this costs one small request. settle is how long changes of slices are gathered, since a driver replaces the
// slices of a pool one by one and every step concerns the whole pool.
const (
	discoverEvery = time.Minute
	settle        = 200 * time.Millisecond
)

// draFeed keeps the DRA devices of a Fleet current, in whatever version the API server serves ResourceSlices. A server that
// serves none is no error: there is nothing to know then.
type draFeed struct {
	fleet     *Fleet
	log       logr.Logger
	discovery discovery.DiscoveryInterface
	versions  []sliceVersion

	mu     sync.Mutex
	known  bool // discovery has answered
	served string
	slices map[string]*resourcev1.ResourceSlice
	sink   *sliceState
	dirty  chan struct{}
}

// sliceState tells whether the watch of the served version has synced.
type sliceState struct{ synced func() bool }

// sliceVersion is a version of resource.k8s.io, from the newest to the oldest.
type sliceVersion struct {
	version string
	watched func(*draFeed) (watched, func() bool)
}

// +kubebuilder:rbac:groups=resource.k8s.io,resources=resourceslices,verbs=list;watch

func newDRAFeed(cfg *rest.Config, fleet *Fleet, log logr.Logger) (*draFeed, error) {
	disco, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("create discovery client: %w", err)
	}
	d := &draFeed{fleet: fleet, log: log, discovery: disco, dirty: make(chan struct{}, 1)}
	c1, err1 := resourcev1client.NewForConfig(cfg)
	c2, err2 := resourcev1beta2client.NewForConfig(cfg)
	c3, err3 := resourcev1beta1client.NewForConfig(cfg)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("create DRA clients: %w", err)
	}
	d.versions = []sliceVersion{
		{"v1", func(d *draFeed) (watched, func() bool) {
			return watchSlices(d, &resourcev1.ResourceSlice{}, c1.ResourceSlices().List, c1.ResourceSlices().Watch,
				func(s *resourcev1.ResourceSlice) resourcev1.ResourceSlice { return *s })
		}},
		{"v1beta2", func(d *draFeed) (watched, func() bool) {
			return watchSlices(d, &resourcev1beta2.ResourceSlice{}, c2.ResourceSlices().List, c2.ResourceSlices().Watch, gpu.FromV1beta2)
		}},
		{"v1beta1", func(d *draFeed) (watched, func() bool) {
			return watchSlices(d, &resourcev1beta1.ResourceSlice{}, c3.ResourceSlices().List, c3.ResourceSlices().Watch, gpu.FromV1beta1)
		}},
	}
	return d, nil
}

// watchSlices watches one version of ResourceSlice.
func watchSlices[O interface {
	runtime.Object
	GetName() string
}, L runtime.Object](
	d *draFeed, object O, list func(context.Context, metav1.ListOptions) (L, error),
	watchFunc func(context.Context, metav1.ListOptions) (watch.Interface, error), convert func(O) resourcev1.ResourceSlice,
) (watched, func() bool) {
	s := &sink[O, resourcev1.ResourceSlice]{
		reduce: func(o O) *resourcev1.ResourceSlice {
			slice := convert(o)
			slice.ManagedFields, slice.OwnerReferences = nil, nil
			return &slice
		},
		key: func(o O) string { return o.GetName() },
		set: d.setSlice, remove: d.removeSlice, replace: d.replaceSlices,
	}
	var sink toolscache.TransformingStore = s
	return watched{
		plural: "ResourceSlices", object: object, sink: sink, watch: watchFunc,
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) },
	}, s.synced.Load
}

// run follows what the API server serves until ctx ends.
func (d *draFeed) run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { d.publish(ctx) })
	stop := func() {}
	defer func() { stop() }()
	retry := minRetry
	for ctx.Err() == nil {
		version, err := d.discover()
		wait := discoverEvery
		switch {
		case err != nil:
			d.log.V(1).Info("Cannot find out whether DRA is served, trying again", "error", err.Error())
			wait, retry = retry, min(2*retry, maxRetry)
		case !d.isServed(version):
			stop()
			watchCtx, cancel := context.WithCancel(ctx)
			stop = cancel
			d.follow(watchCtx, version, &running)
			fallthrough
		default:
			retry = minRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// discover names the newest version of ResourceSlice that is served; empty: none.
func (d *draFeed) discover() (string, error) {
	for _, v := range d.versions {
		list, err := d.discovery.ServerResourcesForGroupVersion(resourceGroup + "/" + v.version)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", err
		}
		for _, r := range list.APIResources {
			if r.Name == "resourceslices" {
				return v.version, nil
			}
		}
	}
	return "", nil
}

func (d *draFeed) isServed(version string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known && d.served == version
}

// follow begins to watch a version; empty: forgets all slices.
func (d *draFeed) follow(ctx context.Context, version string, running *sync.WaitGroup) {
	d.mu.Lock()
	d.known, d.served, d.sink = true, version, nil
	d.mu.Unlock()
	for _, v := range d.versions {
		if v.version != version {
			continue
		}
		d.log.Info("Reading ResourceSlices", "version", resourceGroup+"/"+version)
		w, synced := v.watched(d)
		d.mu.Lock()
		d.sink = &sliceState{synced}
		d.mu.Unlock()
		running.Go(func() { w.run(ctx, d.log) })
		return
	}
	d.log.V(1).Info("The API server serves no ResourceSlices")
	d.replaceSlices(nil)
}

func (d *draFeed) setSlice(s *resourcev1.ResourceSlice) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.slices == nil {
		d.slices = map[string]*resourcev1.ResourceSlice{}
	}
	old := d.slices[s.Name]
	d.slices[s.Name] = s
	if old == nil || !reflect.DeepEqual(old.Spec, s.Spec) {
		d.touch()
	}
}

func (d *draFeed) removeSlice(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.slices, name)
	d.touch()
}

func (d *draFeed) replaceSlices(list []*resourcev1.ResourceSlice) {
	d.mu.Lock()
	d.slices = make(map[string]*resourcev1.ResourceSlice, len(list))
	for _, s := range list {
		d.slices[s.Name] = s
	}
	d.mu.Unlock()
	// A list is a settled state, and others wait for it.
	d.fleet.setDevices(d.devices())
}

func (d *draFeed) touch() {
	select {
	case d.dirty <- struct{}{}:
	default:
	}
}

// publish hands changed devices to the fleet once they have settled.
func (d *draFeed) publish(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.dirty:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settle):
		}
		d.fleet.setDevices(d.devices())
	}
}

func (d *draFeed) devices() map[string]*gpu.Devices {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]resourcev1.ResourceSlice, 0, len(d.slices))
	for _, s := range d.slices {
		all = append(all, *s)
	}
	return gpu.DevicesByNode(all)
}

// synced returns nil when it is known what the API server serves, and that has been read.
func (d *draFeed) synced() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !d.known:
		return errors.New("not known yet whether ResourceSlices are served")
	case d.served != "" && (d.sink == nil || !d.sink.synced()):
		return errors.New("ResourceSlices not read yet") //nolint:staticcheck // a kind has a capital
	default:
		return nil
	}
}
