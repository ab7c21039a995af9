package watch

import (
	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// LogError logs what stands in the way of a watch of a kind and what to do about it. Every watch is tried again, with
// backoff, whatever the reason.
func LogError(log logr.Logger, kind string, err error) {
	const message = "Cannot watch, trying again"
	switch {
	case apierrors.IsNotFound(err) && kind == "GpuInventories":
		log.Error(err, message, "cause", CRDMissing)
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

// CRDMissing is what to say where GpuInventories are not served.
const CRDMissing = "the GpuInventory CRD is not installed; install the chart with crds.install=true, or run with --install-crds"
