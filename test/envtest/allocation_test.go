package envtest

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

// gpuPod is a pod that asks for GPUs; node is where it is bound, or empty.
func gpuPod(name, node, count string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
			Name: "cuda", Image: "cuda",
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(count)}},
		}}},
	}
}

func createPod(ctx context.Context, pod *corev1.Pod) {
	GinkgoHelper()
	Expect(k8s.Create(ctx, pod)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		Expect(client.IgnoreNotFound(k8s.Delete(ctx, pod, client.GracePeriodSeconds(0)))).To(Succeed())
	})
}

var _ = Describe("Allocation", func() {
	BeforeEach(freshCluster)

	free := func(ctx context.Context) func() any {
		return func() any {
			s := status(ctx, "cluster")
			if s.FreeGpus == nil {
				return "unknown"
			}
			return int(*s.FreeGpus)
		}
	}

	It("follows pods as they are bound, end and go, one write each", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8))
		createPod(ctx, gpuPod("unbound", "", "4"))
		o := startOperator(ctx)
		Eventually(free(ctx)).Should(Equal(8))
		o.proxy.Reset()

		one, two := gpuPod("one", "a", "3"), gpuPod("two", "a", "1")
		createPod(ctx, one)
		Eventually(free(ctx)).Should(Equal(5))
		s := status(ctx, "cluster")
		Expect(*s.Resources[0].Allocated).To(BeEquivalentTo(3))
		Expect(*s.Products[0].LargestFree).To(BeEquivalentTo(5))
		Expect(*s.Nodes[0].Resources[0].Allocated).To(BeEquivalentTo(3))
		Consistently(o.statusWrites, "1500ms").Should(Equal(1))
		createPod(ctx, two)
		Eventually(free(ctx)).Should(Equal(4))

		By("a pod that ends holds nothing, though it lingers")
		one.Status.Phase = corev1.PodSucceeded
		Expect(k8s.Status().Update(ctx, one)).To(Succeed())
		Eventually(free(ctx)).Should(Equal(7))

		By("a pod that is being deleted holds until it has gone")
		Expect(k8s.Delete(ctx, two, client.GracePeriodSeconds(600))).To(Succeed())
		Consistently(free(ctx), "1500ms").Should(Equal(7))
		Expect(k8s.Delete(ctx, two, client.GracePeriodSeconds(0))).To(Succeed())
		Eventually(free(ctx)).Should(Equal(8))

		By("a cordon")
		patchNode(ctx, "a", func(n *corev1.Node) { n.Spec.Unschedulable = true })
		Eventually(free(ctx)).Should(Equal(0))
	})

	It("is not taken back by a restart", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8))
		createPod(ctx, gpuPod("one", "a", "3"))
		o := startOperator(ctx)
		Eventually(free(ctx)).Should(Equal(5))
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("free=5"))
		o.restart()
		Consistently(func() int { return o.statusWrites() + o.configMapWrites() }, "3s").Should(BeZero())
		Expect(free(ctx)()).To(Equal(5))
	})

	It("is unknown, and no permission is used, when it is off", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8))
		createPod(ctx, gpuPod("one", "a", "3"))
		o := startOperator(ctx, "--allocation=false")
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		Expect(free(ctx)()).To(Equal("unknown"))
		Expect(status(ctx, "cluster").Nodes[0].Resources[0].Allocated).To(BeNil())
		Expect(o.proxy.Requests(func(r harness.Request) bool {
			return r.Resource == "pods" || r.Resource == "resourceclaims"
		})).To(BeEmpty())
	})

	It("is unknown while Pods cannot be read, and everything else is told", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8))
		o := startOperator(ctx)
		Expect(o.Kill()).To(Succeed())
		freshInventory(ctx)
		o.proxy.SetFault(forbidden("pods"))
		o.start()
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		Expect(free(ctx)()).To(Equal("unknown"))
		Expect(completeMessage(ctx)).To(ContainSubstring("Pods not read yet"))
		o.proxy.SetFault(nil)
		Eventually(free(ctx), "40s").Should(Equal(8))
	})
})
