package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/test/e2e/settings"
)

const (
	releaseName = "gpu-inventory-operator" // also the name of what the chart makes
	chartDir    = "../../charts/gpu-inventory-operator"
	crdName     = "gpuinventories.homelab.youngju.dev"

	// Namespaces that the suite makes and deletes.
	namespace  = "gpu-inventory-e2e"
	workloads  = "gpu-inventory-e2e-work"
	monitoring = "gpu-inventory-e2e-prometheus"

	// metricsHost is the DNS name of the Service of the metrics.
	metricsHost = releaseName + "-metrics." + namespace + ".svc"

	gpuResource = "nvidia.com/gpu"
	gpus        = 4 // devices that the platform gives to the node
)

var (
	config    *rest.Config
	k8s       client.WithWatch      // uncached
	clientset *kubernetes.Clientset // for logs and for what runs behind the API server's proxy
	machine   *platform
	helm      release
	began     time.Time // by the clock of this machine
)

func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "The operator on a cluster")
}

var _ = BeforeSuite(func(ctx context.Context) {
	ctrl.SetLogger(logr.Discard())
	told, err := settings.Read(os.Getenv)
	Expect(err).NotTo(HaveOccurred())
	machine = &platform{script: told.Platform}

	config, err = clientcmd.BuildConfigFromFlags("", told.Kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	config.QPS = -1
	scheme := runtime.NewScheme()
	Expect(errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), v1.AddToScheme(scheme))).To(Succeed())
	k8s, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	clientset, err = kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	helm = release{settings: told}
	GinkgoT().Setenv("KUBECACHEDIR", filepath.Join(GinkgoT().TempDir(), "discovery"))

	err = k8s.Get(ctx, client.ObjectKey{Name: crdName}, &apiextensionsv1.CustomResourceDefinition{})
	Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%s has the CustomResourceDefinition %s, which this suite would delete in the end: "+
		"choose a cluster without it, or delete it yourself (get: %v)", config.Host, crdName, err)
})

// The specs are one story: each Context begins where the one before it has left the cluster.
var _ = Describe("The operator on a cluster", Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx context.Context) {
		cleanUpLater()
		makeNamespaces(ctx)
		By("installing the chart and waiting until it is ready")
		began = time.Now()
		Expect(helm.install(ctx, firstValues())).To(Succeed())
		AddReportEntry("helm install --wait took", time.Since(began).Round(time.Millisecond).String())
	}, NodeTimeout(4*time.Minute))

	JustAfterEach(func(ctx context.Context) {
		if CurrentSpecReport().Failed() {
			dump(ctx)
		}
	}, NodeTimeout(time.Minute))

	Context("after the install", afterTheInstall)
	Context("with GPUs on a node", withGPUs)
	Context("scraped by Prometheus", scrapedByPrometheus)
	Context("when a kubelet stops", whenAKubeletStops)
	Context("when the leader goes", whenTheLeaderGoes)
	Context("in an upgrade and a rollback", inAnUpgradeAndARollback)
	Context("with a certificate from a Secret", withACertificate)
	Context("by the audit log", byTheAuditLog)
	Context("without metrics.secure", withoutMetricsSecure)
	Context("when it is uninstalled", whenItIsUninstalled)
})
