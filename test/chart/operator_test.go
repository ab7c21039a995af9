package chart

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

var managerBin = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gpu-inventory-chart-")
	if err != nil {
		return "", err
	}
	folders = append(folders, dir)
	return harness.BuildManager(context.Background(), dir)
})

// operate runs the operator until it is ready, which it is when the inventory is as its file says, and ends it.
func (c *cluster) operate(t *testing.T) {
	t.Helper()
	m := c.start(t)
	c.waitForReady(t, m)
	if err := m.Stop(); err != nil {
		t.Fatalf("stop the operator: %v\n%s", err, m.Log())
	}
}

// start runs the operator as the ServiceAccount of the release, with what the release gives its pods.
func (c *cluster) start(t *testing.T) *harness.Manager {
	t.Helper()
	bin, err := managerBin()
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: releaseName}, &deployment); err != nil {
		t.Fatal(err)
	}
	account, err := harness.ServiceAccountConfig(t.Context(), c.controlPlane.Config, c.namespace, releaseName)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := harness.WriteKubeconfig(account, kubeconfig); err != nil {
		t.Fatal(err)
	}
	args, err := harness.InventoryArgs(t.Context(), c.Client, &deployment, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m, err := harness.StartManager(bin, kubeconfig, c.namespace, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Stop(); err != nil {
			t.Errorf("stop the operator: %v\n%s", err, m.Log())
		}
	})
	return m
}

func (c *cluster) waitForReady(t *testing.T, m *harness.Manager) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
		// A standby is ready without having applied anything: first it has to lead.
		metrics, err := m.Metrics()
		if err != nil || !strings.Contains(metrics, "\ngpu_inventory_leader 1\n") {
			return false, nil
		}
		code, err := m.Probe("/readyz")
		return err == nil && code == http.StatusOK, nil
	})
	if err != nil {
		t.Fatalf("wait for the operator to be ready: %v\n%s", err, m.Log())
	}
}
