package envtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

var _ = Describe("The status of a GpuInventory", func() {
	BeforeEach(freshCluster)

	It("tells the truth about the homelab, as the plugin does offline", func(ctx context.Context) {
		loadHomelab(ctx)
		startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{4, 0, 1}))

		Expect(*status(ctx, "cluster").UnknownGpuNodes).To(BeEquivalentTo(3))
		out, err := exec.CommandContext(ctx, pluginBin, "scan", "-f", homelab, "-o", "json").Output()
		Expect(err).NotTo(HaveOccurred())
		var scanned v1.GpuInventory
		Expect(json.Unmarshal(out, &scanned)).To(Succeed())
		want := must(json.Marshal(withoutWrite(scanned.Status)))
		Eventually(func() []byte { return must(json.Marshal(withoutWrite(status(ctx, "cluster")))) }).Should(MatchJSON(want))

		Eventually(func() []string { return eventReasons(ctx, "cluster") }).Should(HaveLen(8))
		Expect(eventReasons(ctx, "cluster")).To(ContainElement(v1.EventGpuNodeNotReady))
	})

	It("is written once for a change, and the ConfigMap at most once", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8), gpuNode("b", 8))
		o := startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{2, 2, 16}))
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpu_nodes=2 ready=2 gpus=16"))

		o.proxy.Reset()
		patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{2, 1, 16}))
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpu_nodes=2 ready=1 gpus=16"))
		Consistently(func() []int { return []int{o.statusWrites(), o.configMapWrites()} }, "2s").Should(Equal([]int{1, 1}))
		reads := o.proxy.Requests(func(r harness.Request) bool { return r.Verb == "get" && r.Resource != "leases" })
		Expect(reads).To(BeEmpty(), "a change needs no reads beside the watches")
	})

	It("is not written for heartbeats", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8))
		o := startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpus=8"))
		observedAt := status(ctx, "cluster").ObservedAt

		o.proxy.Reset()
		for i := range 1000 {
			beat := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":%q}]}}`,
				time.Now().Add(time.Duration(i)*time.Minute).UTC().Format(time.RFC3339))
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			Expect(k8s.Status().Patch(ctx, node, client.RawPatch(types.StrategicMergePatchType, []byte(beat)))).To(Succeed())
		}
		patchNode(ctx, "a", label("nvidia.com/gfd.timestamp", "1726000000"))
		// A watch delivers in order: when this Node has arrived, so has every heartbeat before it.
		createNodes(ctx, gpuNode("marker", 1))
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{2, 2, 9}))
		Eventually(o.configMapWrites).Should(BeNumerically(">", 0))
		// The marker itself is a Node, and then its status.
		Expect(o.statusWrites()).To(BeNumerically("<=", 2))
		Expect(o.configMapWrites()).To(BeNumerically("<=", 2))
		Expect(observedAt).NotTo(BeNil())
	})

	It("is not written by a restart, which emits no Event either", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8), gpuNode("b", 8, ready(corev1.ConditionUnknown)))
		o := startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{2, 1, 16}))
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("ready=1"))
		Eventually(func() []string { return eventReasons(ctx, "cluster") }).Should(HaveLen(3))
		before := status(ctx, "cluster")

		o.restart()
		Eventually(func() (string, error) { return o.Metrics() }).Should(ContainSubstring(`gpu_inventory_nodes{inventory="cluster"} 2`))
		Consistently(func() int { return o.statusWrites() + o.configMapWrites() + len(o.writes("events")) }, "2s").Should(BeZero())
		Expect(status(ctx, "cluster")).To(Equal(before))
	})

	It("covers the Nodes that its selector selects, as they join and leave", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8, label("pool", "blue")), gpuNode("b", 4, label("pool", "green")))
		createInventory(ctx, "blue", func(inv *v1.GpuInventory) {
			inv.Spec.NodeSelector = &v1.NodeSelector{MatchLabels: map[string]string{"pool": "blue"}}
		})
		o := startOperator(ctx)
		Eventually(totals(ctx, "blue")).Should(Equal([]int32{1, 1, 8}))
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{2, 2, 12}))

		o.proxy.Reset()
		patchNode(ctx, "b", label("pool", "blue"))
		Eventually(totals(ctx, "blue")).Should(Equal([]int32{2, 2, 12}))
		Consistently(o.statusWrites, "1s").Should(Equal(1), "the label changes nothing for the inventory of all Nodes")
		patchNode(ctx, "a", label("pool", "red"))
		Eventually(totals(ctx, "blue")).Should(Equal([]int32{1, 1, 4}))

		By("one that is created late")
		createInventory(ctx, "red", func(inv *v1.GpuInventory) {
			inv.Spec.NodeSelector = &v1.NodeSelector{MatchLabels: map[string]string{"pool": "red"}}
		})
		Eventually(totals(ctx, "red")).Should(Equal([]int32{1, 1, 8}))

		By("one whose spec changes")
		blue := &v1.GpuInventory{}
		Expect(k8s.Get(ctx, client.ObjectKey{Name: "blue"}, blue)).To(Succeed())
		blue.Spec.NodeSelector.MatchLabels["pool"] = "none"
		Expect(k8s.Update(ctx, blue)).To(Succeed())
		Eventually(totals(ctx, "blue")).Should(Equal([]int32{0, 0, 0}))
		Expect(status(ctx, "blue").ObservedGeneration).To(Equal(blue.Generation))

		By("one that is deleted leaves no series")
		Expect(k8s.Delete(ctx, blue)).To(Succeed())
		Eventually(func() (string, error) { return o.Metrics() }).ShouldNot(ContainSubstring(`inventory="blue"`))
	})

	It("heals when somebody edits it, with one write", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8))
		o := startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		o.proxy.Reset()
		inv := &v1.GpuInventory{}
		Expect(k8s.Get(ctx, client.ObjectKey{Name: "cluster"}, inv)).To(Succeed())
		inv.Status.TotalGpuNodes = new(int32(99))
		Expect(k8s.Status().Update(ctx, inv)).To(Succeed())
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		Consistently(o.statusWrites, "1s").Should(Equal(1))
	})

	It("says unknown for a malformed label, and warns", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8, label("nvidia.com/gpu.count", "eight"), label("nvidia.com/gpu.memory", "80GB")))
		startOperator(ctx)
		Eventually(totals(ctx, "cluster")).ShouldNot(BeNil())
		node := status(ctx, "cluster").Nodes[0]
		Expect(node.Warnings).To(ContainElement(v1.WarningInvalidLabel))
		Expect(node.Gpus[0].MemoryMiB).To(BeNil())
	})
})

// withoutWrite is what a status says, without what belongs to the write of it.
func withoutWrite(s v1.GpuInventoryStatus) v1.GpuInventoryStatus {
	s.ObservedAt, s.ObservedGeneration = nil, 0
	for i := range s.Conditions {
		s.Conditions[i].LastTransitionTime = metav1.Time{}
		s.Conditions[i].ObservedGeneration = 0
	}
	return s
}

func must(b []byte, err error) []byte {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return b
}
