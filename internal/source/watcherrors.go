package source

import (
	"context"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
)

const crdMissing = "the GpuInventory CRD is not installed; install the chart with crds.install=true, or run with --install-crds"

// logWatchError says what stands in the way of a watch and what to do about it. The watch is tried again, with backoff,
// whatever the reason.
func logWatchError(log logr.Logger, kind string, err error) {
	const message = "Cannot watch, trying again"
	switch {
	case apierrors.IsNotFound(err) && kind == "GpuInventories":
		log.Error(err, message, "cause", crdMissing)
	case apierrors.IsForbidden(err):
		log.Error(err, message, "cause", "not allowed to; see the roles of the chart")
	case apierrors.IsUnauthorized(err):
		log.Error(err, message, "cause", "not authenticated; see the kubeconfig, or the service account's token")
	case apierrors.IsResourceExpired(err):
		log.V(1).Info(message, "error", err.Error()) // what was read is too old to go on from, which happens
	default:
		log.Error(err, message)
	}
}

// onWatchError is logWatchError for a cache of one kind.
func onWatchError(kind string) toolscache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, _ *toolscache.Reflector, err error) {
		logWatchError(logr.FromContextOrDiscard(ctx).WithValues("kind", kind), kind, err)
	}
}
