package source

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

// watched says what to watch, and into which sink.
type watched struct {
	// plural names the kind for people, such as Nodes.
	plural string
	// object is an example of the kind.
	object runtime.Object
	list   func(context.Context, metav1.ListOptions) (runtime.Object, error)
	watch  func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// selector is applied by the server.
	selector fields.Selector
	sink     toolscache.TransformingStore
}

// run lists and watches until ctx ends, and tries again, with backoff, after any error.
func (w watched) run(ctx context.Context, log logr.Logger) {
	lw := &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return w.list(ctx, w.selected(paged(o)))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return w.watch(ctx, w.selected(o))
		},
	}
	log = log.WithValues("kind", w.plural)
	ctx = logr.NewContext(ctx, log)
	reflector := toolscache.NewReflectorWithOptions(lw, w.object, w.sink, toolscache.ReflectorOptions{Name: w.plural, Logger: &log})
	reflector.WatchListPageSize = pageSize
	delay := minRetry
	for ctx.Err() == nil {
		started := time.Now()
		if err := reflector.ListAndWatchWithContext(ctx); err != nil && ctx.Err() == nil {
			logWatchError(log, w.plural, err)
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
// healthyAfter was no failure.
const (
	minRetry     = time.Second
	maxRetry     = 30 * time.Second
	healthyAfter = 30 * time.Second
)

// pageSize is how many objects a list brings at a time on an API server that does not stream lists, so before Kubernetes
// 1.34. One response with a hundred thousand Pods is half a gigabyte.
const pageSize = 500

// paged makes a list come in pages. From its cache, for which a version asks, an API server of that time gives everything at
// once whatever the limit; the newest version comes from etcd, as a first streamed list does.
func paged(o metav1.ListOptions) metav1.ListOptions {
	o.ResourceVersion, o.ResourceVersionMatch = "", ""
	return o
}

func (w watched) selected(o metav1.ListOptions) metav1.ListOptions {
	if w.selector != nil {
		o.FieldSelector = w.selector.String()
	}
	return o
}
