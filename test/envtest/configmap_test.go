package envtest

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var _ = Describe("The ConfigMap", func() {
	var o *operator
	const summary = "gpu_nodes=1 ready=1 gpus=8"

	BeforeEach(func(ctx context.Context) {
		freshCluster(ctx)
		createNodes(ctx, gpuNode("a", 8))
		o = startOperator(ctx)
		Eventually(configMapSummary(ctx)).Should(ContainSubstring(summary))
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		o.proxy.Reset()
	})

	It("heals with one write when it is edited", func(ctx context.Context) {
		cm, err := configMap(ctx)
		Expect(err).NotTo(HaveOccurred())
		cm.Data["summary"] = "gpu_nodes=1000"
		delete(cm.Data, "nodes")
		Expect(k8s.Update(ctx, cm)).To(Succeed())
		Eventually(func(g Gomega) {
			cm, err := configMap(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(cm.Data).To(HaveKeyWithValue("summary", ContainSubstring(summary)))
			g.Expect(cm.Data).To(HaveKey("nodes"))
		}).Should(Succeed())
		Consistently(o.configMapWrites, "1s").Should(Equal(1))
	})

	It("is left alone by a key of somebody else", func(ctx context.Context) {
		cm, err := configMap(ctx)
		Expect(err).NotTo(HaveOccurred())
		cm.Data["theirs"] = "x"
		Expect(k8s.Update(ctx, cm)).To(Succeed())
		Consistently(o.configMapWrites, "1s").Should(BeZero())
	})

	It("comes back with one write when it is deleted", func(ctx context.Context) {
		cm, err := configMap(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(k8s.Delete(ctx, cm)).To(Succeed())
		Eventually(configMapSummary(ctx)).Should(ContainSubstring(summary))
		Consistently(o.configMapWrites, "1s").Should(Equal(1))
	})

	It("is not fought over when somebody makes it immutable, and comes back once that one is deleted", func(ctx context.Context) {
		cm, err := configMap(ctx)
		Expect(err).NotTo(HaveOccurred())
		cm.Immutable = new(true)
		Expect(k8s.Update(ctx, cm)).To(Succeed())
		patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
		Eventually(o.Log).Should(ContainSubstring("if it is immutable, delete it"))
		Consistently(o.configMapWrites, "2s").Should(Equal(1), "a retry cannot mend it")
		Expect(k8s.Delete(ctx, cm)).To(Succeed())
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpu_nodes=1 ready=0"))
	})

	It("is written without any GpuInventory", func(ctx context.Context) {
		deleteInventories(ctx)
		patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpu_nodes=1 ready=0"))
		_, err := configMap(ctx)
		Expect(apierrors.IsNotFound(err)).To(BeFalse())
	})
})
