package watch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

const draGroup = "resource.k8s.io"

// discoveryPeriod is how often the API server is asked what it serves of DRA: an upgrade may bring it, or a newer version of
// it. Where nothing is served that is one small request.
const discoveryPeriod = time.Minute

// draKind is a kind of resource.k8s.io. It is read in the newest version that the API server serves. A server that serves
// none is not an error: then there is nothing to know.
type draKind struct {
	plural   string // for people
	resource string // for discovery
	versions []draVersion
	// clear forgets what was read, when the kind is no longer served.
	clear func()

	current string      // version that is read; empty: none
	doubted string      // another version that the last answer named, and ?
	stop    func()      // ends the reading and waits for its end
	synced  func() bool // whether a list has arrived; nil: none is read
}

// draVersion is one version of a kind, with what reads it.
type draVersion struct {
	version string
	reflect func() (_ reflection, synced func() bool)
}

// draDiscovery follows which kinds are served in which version, and has them read.
type draDiscovery struct {
	log    logr.Logger
	client discovery.DiscoveryInterface
	kinds  []*draKind

	mu       sync.Mutex
	answered bool // the API server has said what it serves
}

func newDRADiscovery(cfg *rest.Config, kinds []*draKind, log logr.Logger) (*draDiscovery, error) {
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &draDiscovery{log: log, client: client, kinds: kinds}, nil
}

func (d *draDiscovery) run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	retry := minRetry
	for ctx.Err() == nil {
		wait := discoveryPeriod
		if versions, err := d.discover(ctx); err != nil {
			d.log.V(1).Info("Cannot find out whether DRA is served, trying again", "error", err.Error())
			wait, retry = retry, min(2*retry, maxRetry)
		} else {
			d.follow(ctx, versions, &running)
			retry = minRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// discover returns the newest served version of each kind, by its resource; no entry: not served.
func (d *draDiscovery) discover(ctx context.Context) (map[string]string, error) {
	var status int
	err := d.client.RESTClient().Get().AbsPath("/apis", draGroup).Do(ctx).StatusCode(&status).Error()
	if status == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get API group %s: %w", draGroup, err)
	}
	newest := map[string]string{}
	for _, version := range []string{"v1", "v1beta2", "v1beta1"} {
		list, err := d.client.ServerResourcesForGroupVersion(draGroup + "/" + version)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get API resources of %s/%s: %w", draGroup, version, err)
		}
		for _, r := range list.APIResources {
			if _, ok := newest[r.Name]; !ok {
				newest[r.Name] = version
			}
		}
	}
	return newest, nil
}

// follow begins, changes and ends the reading of kinds. While a control plane is upgraded its servers may answer differently,
// so an answer that something is gone, or older than before, counts only when it comes twice in a row.
func (d *draDiscovery) follow(ctx context.Context, versions map[string]string, running *sync.WaitGroup) {
	for _, kind := range d.kinds {
		version := versions[kind.resource]
		switch {
		case d.answered && version == kind.current:
			kind.doubted = ""
		case kind.current != "" && kind.older(version) && kind.doubted != version+"?":
			kind.doubted = version + "?"
		default:
			kind.doubted = ""
			d.change(ctx, kind, version, running)
		}
	}
	d.mu.Lock()
	d.answered = true
	d.mu.Unlock()
}

// older reports whether a version is older than the current one, or is none.
func (k *draKind) older(version string) bool {
	for _, v := range k.versions {
		switch v.version {
		case version:
			return false
		case k.current:
			return true
		}
	}
	return true
}

// change ends the reading of a kind and begins that of another version; empty: none.
func (d *draDiscovery) change(ctx context.Context, kind *draKind, version string, running *sync.WaitGroup) {
	if kind.stop != nil {
		kind.stop()
	}
	for _, v := range kind.versions {
		if v.version != version {
			continue
		}
		r, synced := v.reflect()
		readCtx, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		d.mu.Lock()
		kind.current, kind.synced = version, synced
		kind.stop = func() { cancel(); <-ended }
		d.mu.Unlock()
		d.log.Info("Reading "+kind.plural, "version", draGroup+"/"+version)
		running.Go(func() {
			defer close(ended)
			r.run(readCtx, d.log)
		})
		return
	}
	d.mu.Lock()
	kind.current, kind.stop, kind.synced = "", nil, nil
	d.mu.Unlock()
	d.log.V(1).Info("Not served: " + kind.plural)
	kind.clear()
}

// synced returns nil when it is known which of the resources are served, and those have been read.
func (d *draDiscovery) synced(resources ...string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.answered {
		return errors.New("not known yet whether DRA is served")
	}
	var errs []error
	for _, kind := range d.kinds {
		if slices.Contains(resources, kind.resource) && kind.synced != nil && !kind.synced() {
			errs = append(errs, fmt.Errorf("%s not read yet", kind.plural))
		}
	}
	return errors.Join(errs...)
}
