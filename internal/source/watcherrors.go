package source

import (
	"context"
	"strings"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

const crdMissing = "the GpuInventory CRD is not installed; install the chart with crds.install=true, or run with --install-crds"

// logWatchError says what stands in the way of a watch and what to do about it. The watch is tried again, with backoff,
// whatever the reason.
func logWatchError(ctx context.Context, r *toolscache.Reflector, err error) {
	log := logr.FromContextOrDiscard(ctx).WithValues("type", r.TypeDescription())
	switch {
	case apierrors.IsNotFound(err) && strings.HasSuffix(r.TypeDescription(), v1.Kind):
		log.Error(err, "Cannot watch: "+crdMissing)
	case apierrors.IsForbidden(err):
		log.Error(err, "Cannot watch: not allowed to; see the roles of the chart")
	case apierrors.IsUnauthorized(err):
		log.Error(err, "Cannot watch: not authenticated; see the kubeconfig, or the service account's token")
	default:
		toolscache.DefaultWatchErrorHandler(ctx, r, err)
	}
}
