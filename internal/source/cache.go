package source

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// CacheOptions is what the manager caches: every GpuInventory, and the one ConfigMap that the operator keeps. Nodes are the
// Feed's.
func CacheOptions(configMap client.ObjectKey) cache.Options {
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		DefaultWatchErrorHandler: onWatchError(map[string]string{
			"*v1.GpuInventory": "GpuInventories", "*v1.ConfigMap": "ConfigMaps",
		}),
		// A read of a kind that nobody watches is a mistake; it must not start a cluster-wide watch in silence.
		ReaderFailOnMissingInformer: true,
		ByObject: map[client.Object]cache.ByObject{
			&corev1.ConfigMap{}: {
				Namespaces: map[string]cache.Config{configMap.Namespace: {}},
				// One name, so that the permission can name it too.
				Field: fields.OneTermEqualSelector("metadata.name", configMap.Name),
			},
		},
	}
}

// Synced returns nil when what the operator writes to has been read once. Otherwise the error says which kind is missing
// and, where it is known, why.
func Synced(ctx context.Context, c cache.Cache) error {
	var errs []error
	for _, kind := range []struct {
		name string
		obj  client.Object
	}{
		{"GpuInventories", &v1.GpuInventory{}},
		{"the ConfigMap", &corev1.ConfigMap{}},
	} {
		informer, err := c.GetInformer(ctx, kind.obj, cache.BlockUntilSynced(false))
		switch {
		case meta.IsNoMatchError(err):
			errs = append(errs, errors.New(crdMissing))
		case err != nil:
			errs = append(errs, fmt.Errorf("watch %s: %w", kind.name, err))
		case !informer.HasSynced():
			errs = append(errs, fmt.Errorf("%s not read yet", kind.name))
		}
	}
	return errors.Join(errs...)
}
