package envtest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/charts"
	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

// unreachable cuts the connection.
func unreachable(http.ResponseWriter, harness.Request, func(http.ResponseWriter)) bool {
	panic(http.ErrAbortHandler)
}

// forbidden refuses requests for a resource, as missing RBAC does.
func forbidden(resource string) harness.Fault {
	return func(w http.ResponseWriter, r harness.Request, _ func(http.ResponseWriter)) bool {
		if r.Resource != resource {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"` +
			resource + ` is forbidden: no RBAC policy matched"}`))
		return true
	}
}

var _ = Describe("The operator recovers without a restart from", func() {
	BeforeEach(func(ctx context.Context) {
		freshCluster(ctx)
		createNodes(ctx, gpuNode("a", 8))
	})

	stillRunning := func(o *operator) {
		GinkgoHelper()
		Expect(o.Exited()).NotTo(BeClosed())
		code, err := o.Probe("/healthz")
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(http.StatusOK))
	}

	It("an API server that cannot be reached when it starts", func(ctx context.Context) {
		o := startOperator(ctx)
		o.proxy.SetFault(unreachable)
		Expect(o.Kill()).To(Succeed())
		o.start()
		Eventually(o.Log).Should(ContainSubstring(`"level":"ERROR"`))
		Consistently(o.ready, "3s").ShouldNot(Succeed())
		stillRunning(o)
		o.proxy.SetFault(nil)
		Eventually(totals(ctx, "cluster"), "40s").Should(Equal([]int32{1, 1, 8}))
		Eventually(o.ready).Should(Succeed())
	})

	It("an API server that goes away for 15 s, longer than a Lease renewal may take", func(ctx context.Context) {
		o := startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		o.proxy.SetFault(unreachable)
		patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
		Consistently(func() bool { stillRunning(o); return true }, "15s", "1s").Should(BeTrue())
		o.proxy.SetFault(nil)
		Eventually(totals(ctx, "cluster"), "35s").Should(Equal([]int32{1, 0, 8}))
		stillRunning(o)
	})

	It("answers of 500 to every write", func(ctx context.Context) {
		o := startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		o.proxy.SetFault(func(w http.ResponseWriter, r harness.Request, _ func(http.ResponseWriter)) bool {
			if r.Resource != "gpuinventories" || !r.Write() {
				return false
			}
			w.WriteHeader(http.StatusInternalServerError)
			return true
		})
		o.proxy.Reset()
		patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
		Eventually(o.Log).Should(ContainSubstring("apply status of gpuinventory cluster"))
		for i := range 40 { // news that keep coming must not make it try more often
			patchNodeStatus(ctx, "a", ready([]corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse}[i%2]))
			time.Sleep(50 * time.Millisecond)
		}
		Expect(o.statusWrites()).To(BeNumerically("<=", 6), "attempts in some 3 s")
		o.proxy.SetFault(nil)
		Eventually(totals(ctx, "cluster"), "35s").Should(Equal([]int32{1, 0, 8}))
		Eventually(func() []string { return eventReasons(ctx, "cluster") }).Should(ContainElement(v1.EventGpuNodeNotReady))
	})

	It("a write that was done although its answer was lost, without doing it twice", func(ctx context.Context) {
		o := startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		o.proxy.Reset()
		o.proxy.SetFault(func(_ http.ResponseWriter, r harness.Request, forward func(http.ResponseWriter)) bool {
			if r.Resource != "gpuinventories" || !r.Write() {
				return false
			}
			o.proxy.SetFault(nil)
			forward(httptest.NewRecorder())
			panic(http.ErrAbortHandler)
		})
		patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
		Eventually(totals(ctx, "cluster"), "35s").Should(Equal([]int32{1, 0, 8}))
		settled := inventoryVersion(ctx)
		Consistently(func() string { return inventoryVersion(ctx) }, "2s").Should(Equal(settled))
		Expect(o.statusWrites()).To(Equal(1))
	})

	It("a permission to read Nodes that is missing, and says so", func(ctx context.Context) {
		o := startOperator(ctx)
		Expect(o.Kill()).To(Succeed())
		freshInventory(ctx)
		o.proxy.SetFault(forbidden("nodes"))
		o.start()
		Eventually(o.Log).Should(ContainSubstring("nodes is forbidden"))
		Consistently(o.ready, "2s").ShouldNot(Succeed())
		Expect(status(ctx, "cluster").TotalGpuNodes).To(BeNil(), "nothing is known, so nothing is said")
		stillRunning(o)
		o.proxy.SetFault(nil)
		Eventually(totals(ctx, "cluster"), "60s").Should(Equal([]int32{1, 1, 8}))
	})

	It("a permission to read GpuInventories that is missing, and keeps the ConfigMap current meanwhile", func(ctx context.Context) {
		o := startOperator(ctx)
		Expect(o.Kill()).To(Succeed())
		freshInventory(ctx)
		o.proxy.SetFault(forbidden("gpuinventories"))
		o.start()
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpu_nodes=1 ready=1"))
		patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpu_nodes=1 ready=0"))
		Expect(o.Log()).To(ContainSubstring("not allowed to; see the roles of the chart"))
		Expect(o.ready()).NotTo(Succeed())
		stillRunning(o)
		o.proxy.SetFault(nil)
		Eventually(totals(ctx, "cluster"), "60s").Should(Equal([]int32{1, 0, 8}))
	})

	It("a watch of Nodes that is cut while Nodes change and go", func(ctx context.Context) {
		createNodes(ctx, gpuNode("b", 4))
		o := startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{2, 2, 12}))
		o.proxy.SetFault(func(w http.ResponseWriter, r harness.Request, forward func(http.ResponseWriter)) bool {
			return r.Resource == "nodes" && unreachable(w, r, forward)
		})
		o.proxy.CutWatches()
		deleteNode(ctx, "b")
		patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
		Consistently(totals(ctx, "cluster"), "2s").Should(Equal([]int32{2, 2, 12}), "what cannot be seen is not taken for gone")
		o.proxy.SetFault(nil)
		Eventually(totals(ctx, "cluster"), "40s").Should(Equal([]int32{1, 0, 8}))
		stillRunning(o)
	})

	It("a CRD that is missing, and keeps the ConfigMap current meanwhile", func(ctx context.Context) {
		c, crd := crdClient()
		remove := func(ctx context.Context) {
			Expect(c.Delete(ctx, crd.DeepCopy())).To(Succeed())
			Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(crd), crd.DeepCopy())) }).Should(BeTrue())
		}
		restore := func(ctx context.Context) {
			Expect(client.IgnoreAlreadyExists(c.Create(ctx, crd.DeepCopy()))).To(Succeed())
			Eventually(func() error { return k8s.List(ctx, &v1.GpuInventoryList{}) }).Should(Succeed())
		}
		DeferCleanup(restore)
		remove(ctx)

		o := startOperator(ctx)
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpu_nodes=1 ready=1"))
		Eventually(o.Log).Should(ContainSubstring("the GpuInventory CRD is not installed"))
		Expect(o.ready()).NotTo(Succeed())
		patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpu_nodes=1 ready=0"))
		stillRunning(o)

		restore(ctx)
		createInventory(ctx, "cluster")
		Eventually(totals(ctx, "cluster"), "40s").Should(Equal([]int32{1, 0, 8}))
		Eventually(o.ready, "15s").Should(Succeed())

		By("the CRD being deleted while it runs")
		remove(ctx)
		patchNodeStatus(ctx, "a", ready(corev1.ConditionTrue))
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpu_nodes=1 ready=1"))
		stillRunning(o)
		restore(ctx)
		createInventory(ctx, "cluster")
		Eventually(totals(ctx, "cluster"), "60s").Should(Equal([]int32{1, 1, 8}))
	})

	It("a namespace that is being deleted", func(ctx context.Context) {
		// No controller empties a namespace here, so one that is deleted stays Terminating.
		doomed := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "doomed"}}
		Expect(k8s.Create(ctx, doomed)).To(Succeed())
		Expect(k8s.Delete(ctx, doomed)).To(Succeed())
		o := startAdminOperator(ctx, "doomed", "--leader-elect=false")
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}), "the status does not depend on the namespace")
		Eventually(o.Log).Should(ContainSubstring("apply configmap doomed/gpu-node-status"))
		o.proxy.Reset()
		Consistently(o.configMapWrites, "3s").Should(BeNumerically("<=", 8), "the operator backs off")
		stillRunning(o)
	})
})

func inventoryVersion(ctx context.Context) string {
	GinkgoHelper()
	var inv v1.GpuInventory
	Expect(k8s.Get(ctx, client.ObjectKey{Name: "cluster"}, &inv)).To(Succeed())
	return inv.ResourceVersion
}

var _ = Describe("A stop", func() {
	It("finishes the write in flight", func(ctx context.Context) {
		freshCluster(ctx)
		createNodes(ctx, gpuNode("a", 8))
		o := startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		begun := make(chan struct{})
		o.proxy.SetFault(func(_ http.ResponseWriter, r harness.Request, _ func(http.ResponseWriter)) bool {
			if r.Resource == "gpuinventories" && r.Write() {
				close(begun)
				time.Sleep(2 * time.Second) // a slow API server, which does answer in the end
			}
			return false
		})
		patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
		Eventually(begun).Should(BeClosed())
		Expect(o.Stop()).To(Succeed())
		Expect(totals(ctx, "cluster")()).To(Equal([]int32{1, 0, 8}))
	})
})

// crdClient is a client for CustomResourceDefinitions, and ours as the chart has it.
func crdClient() (client.Client, *apiextensionsv1.CustomResourceDefinition) {
	GinkgoHelper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Expect(yaml.Unmarshal(charts.CRD, crd)).To(Succeed())
	scheme := runtime.NewScheme()
	Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	c, err := client.New(controlPlane.Config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return c, crd
}
