// Package envtest shows what only an API server can show: server-side apply, validation, watches, permissions, faults. The
// manager runs as a process of its own, as the chart's ServiceAccount, behind a proxy that records what it asks.
package envtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

const (
	namespace = "gpu-inventory"
	release   = "gpu-inventory-operator"
	chartDir  = "../../charts/gpu-inventory-operator"
	homelab   = "../../examples/homelab.yaml"
)

var (
	controlPlane *harness.ControlPlane
	k8s          client.Client // the administrator's, uncached
	managerBin   string
	pluginBin    string
	helm         harness.Helm
)

func TestEnvtest(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(15 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	RunSpecs(t, "The operator on an API server")
}

var _ = BeforeSuite(func(ctx context.Context) {
	ctrl.SetLogger(logr.Discard())
	Expect(os.Unsetenv("POD_NAMESPACE")).To(Succeed())
	var err error
	controlPlane, err = harness.StartControlPlane()
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(controlPlane.Stop)
	k8s = controlPlane.Client

	bins := GinkgoT().TempDir()
	managerBin, err = harness.BuildManager(ctx, bins)
	Expect(err).NotTo(HaveOccurred())
	pluginBin = filepath.Join(bins, "kubectl-gpuinv")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", pluginBin, "../../cmd/kubectl-gpuinv").CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))

	Expect(harness.EnsureNamespace(ctx, k8s, namespace)).To(Succeed())
	helm = harness.Helm{Kubeconfig: controlPlane.Kubeconfig, Chart: chartDir, Release: release, Namespace: namespace}
	_, err = helm.Install(ctx, nil)
	Expect(err).NotTo(HaveOccurred())
})
