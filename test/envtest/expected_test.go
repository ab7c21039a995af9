package envtest

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

var _ = Describe("What is expected", func() {
	It("is compared with what is there, and told by condition, Event and metrics", func(ctx context.Context) {
		freshCluster(ctx)
		createInventory(ctx, "pools", func(inv *v1.GpuInventory) {
			inv.Spec.Expected = []v1.ExpectedPool{{
				Name: "blue", Nodes: 2, GpusPerNode: new(int32(8)),
				NodeSelector: &v1.NodeSelector{MatchLabels: map[string]string{"pool": "blue"}},
			}}
		})
		createNodes(ctx, gpuNode("a", 8, label("pool", "blue")), gpuNode("b", 8, label("pool", "green")))
		o := startOperator(ctx)
		asExpected := func() *metav1.Condition {
			return meta.FindStatusCondition(status(ctx, "pools").Conditions, v1.ConditionAsExpected)
		}
		Eventually(asExpected).Should(And(HaveField("Status", metav1.ConditionFalse), HaveField("Message", ContainSubstring("1 of 2 nodes, 8 of 16 GPUs"))))
		Eventually(func() (string, error) { return o.Metrics() }).Should(And(
			ContainSubstring(`gpu_inventory_expected_gpus{inventory="pools",pool="blue"} 16`),
			ContainSubstring(`gpu_inventory_missing_gpus{inventory="pools",pool="blue"} 8`),
		))

		By("a label that moves a Node into the pool")
		patchNode(ctx, "b", label("pool", "blue"))
		Eventually(asExpected).Should(HaveField("Status", metav1.ConditionTrue))
		Eventually(func() []string { return eventReasons(ctx, "pools") }).Should(ContainElement(v1.EventExpectationMet))

		By("a Node that goes")
		deleteNode(ctx, "b")
		Eventually(asExpected).Should(HaveField("Status", metav1.ConditionFalse))
		Eventually(func() []string { return eventReasons(ctx, "pools") }).Should(ContainElement(v1.EventExpectationMissed))
		Expect(meta.FindStatusCondition(status(ctx, "cluster").Conditions, v1.ConditionAsExpected)).To(BeNil(), "nothing is expected there")
	})
})
