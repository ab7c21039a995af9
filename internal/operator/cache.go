package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/watch"
)

// inventoryCache is what the manager caches: every GpuInventory, as transform leaves it.
func inventoryCache(transform toolscache.TransformFunc) cache.Options {
	options := cacheOptions("GpuInventories", nil)
	options.DefaultTransform = transform
	return options
}

// configMapCache is for the one ConfigMap that the operator keeps. It is a cache of its own: a controller waits for all of
// the cache that it watches, and the ConfigMap must not wait for GpuInventories that cannot be read.
func configMapCache(key client.ObjectKey) cache.Options {
	return cacheOptions("ConfigMaps", map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}: {
			Namespaces: map[string]cache.Config{key.Namespace: {}},
			// One name, so that the permission can name it too.
			Field: fields.OneTermEqualSelector("metadata.name", key.Name),
		},
	})
}

func cacheOptions(kind string, byObject map[client.Object]cache.ByObject) cache.Options {
	return cache.Options{
		DefaultTransform:         cache.TransformStripManagedFields(),
		DefaultWatchErrorHandler: logWatchError(kind),
		// A read of a kind that nobody watches is a mistake; it must not start a cluster-wide watch in silence.
		ReaderFailOnMissingInformer: true,
		ByObject:                    byObject,
	}
}

// readOnce returns nil when a kind has been read once. Otherwise the error says what is missing and, if that is known, why.
func readOnce(ctx context.Context, c cache.Cache, kind string, obj client.Object) error {
	informer, err := c.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
	switch {
	case meta.IsNoMatchError(err):
		return errors.New(watch.CRDMissing)
	case err != nil:
		return fmt.Errorf("watch %s: %w", kind, err)
	case !informer.HasSynced():
		return fmt.Errorf("%s not read yet", kind)
	default:
		return nil
	}
}

func logWatchError(kind string) toolscache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, _ *toolscache.Reflector, err error) {
		watch.LogError(logr.FromContextOrDiscard(ctx).WithValues("kind", kind), kind, err)
	}
}
