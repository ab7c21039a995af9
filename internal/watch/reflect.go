package watch

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// reflection says what to list and watch, and where to store it.
type reflection struct {
	// plural names the kind for people, such as Nodes.
	plural string
	// object is an example of the kind.
	object runtime.Object
	list   func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch  func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// selector is applied by the server; nil: all objects.
	selector fields.Selector
	store    toolscache.TransformingStore
}

// run lists and watches until ctx ends. It tries again, with backoff, after any error.
func (r reflection) run(ctx context.Context, log logr.Logger) {
	lw := &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return r.list(ctx, r.selected(paged(o)))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return r.watch(ctx, r.selected(o))
		},
	}
	log = log.WithValues("kind", r.plural)
	ctx = logr.NewContext(ctx, log)
	reflector := toolscache.NewReflectorWithOptions(lw, r.object, r.store, toolscache.ReflectorOptions{Name: r.plural, Logger: &log})
	reflector.WatchListPageSize = pageSize
	delay := minRetry
	for ctx.Err() == nil {
		started := time.Now()
		if err := reflector.ListAndWatchWithContext(ctx); err != nil && ctx.Err() == nil {
			LogError(log, r.plural, err)
		}
		if time.Since(started) > healthyAfter {
			delay = minRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(delay):
		}
		delay = min(2*delay, maxRetry)
	}
}

// A watch that ends is begun again after minRetry, one that keeps failing after at most maxRetry. One that lasted for
// healthyAfter did not fail.
const (
	minRetry     = time.Second
	maxRetry     = 30 * time.Second
	healthyAfter = 30 * time.Second
)

// pageSize is how many objects a list brings at a time on an API server that does not stream lists, which is one before
// Kubernetes 1.34. One response with a hundred thousand Pods is half a gigabyte.
const pageSize = 500

// paged makes a list come in pages. An API server of that time answers a request for a version from its cache, and then
// returns everything at once whatever the limit. The newest version comes from etcd, as a first streamed list does.
func paged(o metav1.ListOptions) metav1.ListOptions {
	o.ResourceVersion, o.ResourceVersionMatch = "", ""
	return o
}

func (r reflection) selected(o metav1.ListOptions) metav1.ListOptions {
	if r.selector != nil {
		o.FieldSelector = r.selector.String()
	}
	return o
}
