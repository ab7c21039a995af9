package source

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

// discoverEvery is how often the API server is asked what it serves of DRA: an upgrade may bring it, or a newer version of
// it. Where nothing is served that is one small request.
const discoverEvery = time.Minute

// draKind is a kind of resource.k8s.io that is read in the newest version that the API server serves. A server that serves
// none is no error: there is nothing to know then.
type draKind struct {
	plural   string // for people
	resource string // for discovery
	versions []draVersion
	// clear forgets what was read, when the kind is no longer served.
	clear func()

	current string      // version that is watched; empty: none
	doubted string      // another version that the last answer named
	stop    func()      // ends the watch and waits for it
	synced  func() bool // of the watch; nil: none
}

// draVersion is one version of a kind, with the watch for it.
type draVersion struct {
	version string
	watch   func() (watched, func() bool)
}

// served follows which kinds are served in which version.
type served struct {
	log       logr.Logger
	discovery discovery.DiscoveryInterface
	kinds     []*draKind

	mu    sync.Mutex
	known bool // discovery has answered
}

func newServed(cfg *rest.Config, kinds []*draKind, log logr.Logger) (*served, error) {
	disco, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &served{log: log, discovery: disco, kinds: kinds}, nil
}

func (s *served) run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	retry := minRetry
	for ctx.Err() == nil {
		wait := discoverEvery
		if versions, err := s.discover(ctx); err != nil {
			s.log.V(1).Info("Cannot find out whether DRA is served, trying again", "error", err.Error())
			wait, retry = retry, min(2*retry, maxRetry)
		} else {
			s.follow(ctx, versions, &running)
			retry = minRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// discover is the newest served version of each kind, by its resource; no entry: not served.
func (s *served) discover(ctx context.Context) (map[string]string, error) {
	var status int
	err := s.discovery.RESTClient().Get().AbsPath("/apis", draGroup).Do(ctx).StatusCode(&status).Error()
	if status == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get API group %s: %w", draGroup, err)
	}
	newest := map[string]string{}
	for _, version := range []string{"v1", "v1beta2", "v1beta1"} {
		list, err := s.discovery.ServerResourcesForGroupVersion(draGroup + "/" + version)
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

// follow begins, changes and ends watches. While a control plane is upgraded its servers may answer differently: that
// something is gone, or older than before, is believed when it is said twice in a row.
func (s *served) follow(ctx context.Context, versions map[string]string, running *sync.WaitGroup) {
	for _, kind := range s.kinds {
		version := versions[kind.resource]
		switch {
		case s.known && version == kind.current:
			kind.doubted = ""
		case kind.current != "" && kind.older(version) && kind.doubted != version+"?":
			kind.doubted = version + "?"
		default:
			kind.doubted = ""
			s.change(ctx, kind, version, running)
		}
	}
	s.mu.Lock()
	s.known = true
	s.mu.Unlock()
}

// older reports whether a version comes after the current one in the kind's list, or is none.
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

// change ends the watch of a kind and begins that of another version; empty: none.
func (s *served) change(ctx context.Context, kind *draKind, version string, running *sync.WaitGroup) {
	if kind.stop != nil {
		kind.stop()
	}
	for _, v := range kind.versions {
		if v.version != version {
			continue
		}
		w, synced := v.watch()
		watchCtx, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		s.mu.Lock()
		kind.current, kind.synced = version, synced
		kind.stop = func() { cancel(); <-ended }
		s.mu.Unlock()
		s.log.Info("Reading "+kind.plural, "version", draGroup+"/"+version)
		running.Go(func() {
			defer close(ended)
			w.run(watchCtx, s.log)
		})
		return
	}
	s.mu.Lock()
	kind.current, kind.stop, kind.synced = "", nil, nil
	s.mu.Unlock()
	s.log.V(1).Info("Not served: " + kind.plural)
	kind.clear()
}

// synced returns nil when it is known which of the kinds are served, and those have been read.
func (s *served) synced(resources ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		return errors.New("not known yet whether DRA is served")
	}
	var errs []error
	for _, kind := range s.kinds {
		if slices.Contains(resources, kind.resource) && kind.synced != nil && !kind.synced() {
			errs = append(errs, fmt.Errorf("%s not read yet", kind.plural))
		}
	}
	return errors.Join(errs...)
}
