package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/gpu-inventory/gpu-inventory-operator/charts"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/publish"
)

// retryCRD is how often a CRD that could not be applied is tried again.
const retryCRD = 5 * time.Second

// installCRD applies the embedded CRD, and tries again until it succeeds or ctx ends.
func installCRD(ctx context.Context, cfg *rest.Config, log logr.Logger) error {
	var crd unstructured.Unstructured
	if err := yaml.Unmarshal(charts.CRD, &crd.Object); err != nil {
		return fmt.Errorf("decode embedded CRD: %w", err)
	}
	return wait.PollUntilContextCancel(ctx, retryCRD, true, func(ctx context.Context) (bool, error) {
		c, err := client.New(cfg, client.Options{})
		if err == nil {
			err = c.Apply(ctx, client.ApplyConfigurationFromUnstructured(crd.DeepCopy()), client.FieldOwner(publish.FieldOwner), client.ForceOwnership)
		}
		if err != nil {
			log.Error(err, "Applying the GpuInventory CRD failed, trying again", "crd", crd.GetName())
			return false, nil
		}
		log.Info("Applied the GpuInventory CRD", "crd", crd.GetName())
		return true, nil
	})
}
