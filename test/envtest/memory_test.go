package envtest

import (
	"context"
	"fmt"
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// unlabel takes away what feature discovery wrote, as a restart of it does.
func unlabel(n *corev1.Node) {
	maps.DeleteFunc(n.Labels, func(key, _ string) bool { return strings.HasPrefix(key, "nvidia.com/gpu.") })
}

var _ = Describe("What is remembered", func() {
	BeforeEach(freshCluster)

	complete := func(ctx context.Context) func() metav1.ConditionStatus {
		return func() metav1.ConditionStatus {
			return meta.FindStatusCondition(status(ctx, "cluster").Conditions, v1.ConditionComplete).Status
		}
	}

	It("keeps totals steady, and makes no storm, when 200 nodes lose their labels and get them back", func(ctx context.Context) {
		const nodes = 200
		for i := range nodes {
			createNodes(ctx, gpuNode(fmt.Sprintf("gpu-%03d", i), 8))
		}
		o := startOperator(ctx)
		whole := []int32{nodes, nodes, nodes * 8}
		Eventually(totals(ctx, "cluster")).Should(Equal(whole))
		Eventually(complete(ctx)).Should(Equal(metav1.ConditionTrue))
		Eventually(func() []string { return eventReasons(ctx, "cluster") }).ShouldNot(BeEmpty())
		known := len(eventReasons(ctx, "cluster"))
		o.proxy.Reset()

		// Between any two requests the totals must hold.
		steady := func() {
			GinkgoHelper()
			Expect(totals(ctx, "cluster")()).To(Equal(whole))
		}
		for i := range nodes {
			patchNode(ctx, fmt.Sprintf("gpu-%03d", i), unlabel)
			if i%20 == 0 {
				steady()
			}
		}
		Eventually(complete(ctx)).Should(Equal(metav1.ConditionFalse))
		Eventually(func() int { return lastKnownRows(ctx) }).Should(Equal(nodes))
		steady()
		for i := range nodes {
			labels := gpuNode("x", 8).Labels
			patchNode(ctx, fmt.Sprintf("gpu-%03d", i), func(n *corev1.Node) { n.Labels = labels })
		}
		Eventually(complete(ctx)).Should(Equal(metav1.ConditionTrue))
		steady()
		Expect(len(eventReasons(ctx, "cluster"))-known).To(BeNumerically("<=", 60), "Events of the wipe and the return")
		AddReportEntry("Events", eventReasons(ctx, "cluster"))
	})

	It("outlives the process, until the Node goes", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8))
		o := startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		patchNode(ctx, "a", unlabel)
		Eventually(func() int { return lastKnownRows(ctx) }).Should(Equal(1))
		seen := status(ctx, "cluster").Nodes[0].LastSeen
		Expect(seen).NotTo(BeNil())

		By("a restart")
		o.restart()
		Consistently(func() int { return o.statusWrites() + o.configMapWrites() }, "2s").Should(BeZero())
		Expect(status(ctx, "cluster").Nodes[0].LastSeen).To(Equal(seen))

		By("another Node of the same name")
		deleteNode(ctx, "a")
		fresh := gpuNode("a", 8)
		unlabel(fresh)
		fresh.Labels["feature.node.kubernetes.io/pci-10de.present"] = "true"
		createNodes(ctx, fresh)
		Eventually(func() int { return lastKnownRows(ctx) }).Should(BeZero())
	})
})

// lastKnownRows is how many rows of the status are remembered ones.
func lastKnownRows(ctx context.Context) (n int) {
	GinkgoHelper()
	for _, row := range status(ctx, "cluster").Nodes {
		for _, g := range row.Gpus {
			if g.Source == v1.SourceLastKnown {
				n++
			}
		}
	}
	return n
}

func deleteNode(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(k8s.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
}
