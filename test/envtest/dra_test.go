package envtest

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

// slice is a ResourceSlice as the NVIDIA DRA driver publishes it, with the given GPUs of a node.
func slice(name, node string, generation, slices int64, gpus ...int) *resourcev1.ResourceSlice {
	text := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	s := &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.nvidia.com", NodeName: &node,
			Pool: resourcev1.ResourcePool{Name: node, Generation: generation, ResourceSliceCount: slices},
		},
	}
	for _, i := range gpus {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{
			Name: fmt.Sprintf("gpu-%d", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"type": text("gpu"), "uuid": text(fmt.Sprintf("GPU-%d", i)), "productName": text("NVIDIA H100 80GB HBM3"),
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("81559Mi")}},
		})
	}
	return s
}

// draNode is a Node that only a DRA driver serves: no device plugin, no feature discovery.
func draNode(name string) *corev1.Node {
	n := gpuNode(name, 0)
	n.Labels = map[string]string{"nvidia.com/gpu.present": "true"}
	n.Status.Capacity, n.Status.Allocatable = nil, nil
	return n
}

func servesSlices(ctx context.Context) bool {
	GinkgoHelper()
	return k8s.List(ctx, &resourcev1.ResourceSliceList{}) == nil
}

var _ = Describe("DRA", func() {
	BeforeEach(func(ctx context.Context) {
		freshCluster(ctx)
		if servesSlices(ctx) {
			Expect(k8s.DeleteAllOf(ctx, &resourcev1.ResourceSlice{})).To(Succeed())
			DeferCleanup(func(ctx context.Context) { Expect(k8s.DeleteAllOf(ctx, &resourcev1.ResourceSlice{})).To(Succeed()) })
		}
	})

	It("counts the devices of complete pools, as they come and go", func(ctx context.Context) {
		if !servesSlices(ctx) {
			Skip("this API server serves no resource.k8s.io/v1")
		}
		createNodes(ctx, draNode("a"))
		Expect(k8s.Create(ctx, slice("a-1", "a", 1, 1, 0, 1))).To(Succeed())
		startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 2}))
		row := status(ctx, "cluster").Nodes[0]
		Expect(row.Gpus).To(HaveLen(1))
		Expect(row.Gpus[0].Source).To(Equal(v1.SourceSlices))
		Expect(*row.Gpus[0].MemoryMiB).To(BeEquivalentTo(81559))
		Expect(row.Resources).To(ConsistOf(v1.NodeResource{Name: "dra:gpu.nvidia.com", Capacity: 2, Allocatable: 2, Allocated: new(int64(0))}))

		By("a claim that holds a device")
		held := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "held"}}
		held.Spec.Devices.Requests = []resourcev1.DeviceRequest{{
			Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu.nvidia.com"},
		}}
		Expect(k8s.Create(ctx, held)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(client.IgnoreNotFound(k8s.Delete(ctx, held))).To(Succeed()) })
		held.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
			Results: []resourcev1.DeviceRequestAllocationResult{{Request: "gpu", Driver: "gpu.nvidia.com", Pool: "a", Device: "gpu-1"}},
		}}
		Expect(k8s.Status().Update(ctx, held)).To(Succeed())
		Eventually(func() *int64 { return status(ctx, "cluster").Nodes[0].Resources[0].Allocated }).Should(HaveValue(BeEquivalentTo(1)))
		Expect(*status(ctx, "cluster").FreeGpus).To(BeEquivalentTo(1))

		By("a rule that taints the other one")
		rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "broken"}, Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: &resourcev1.DeviceTaintSelector{Pool: new("a"), Device: new("gpu-0")},
			Taint:          resourcev1.DeviceTaint{Key: "example.com/broken", Effect: resourcev1.DeviceTaintEffectNoSchedule},
		}}
		if err := k8s.Create(ctx, rule); err == nil { // served since Kubernetes 1.37
			Eventually(func() int64 { return status(ctx, "cluster").Nodes[0].Resources[0].Allocatable }).Should(BeEquivalentTo(1))
			Expect(k8s.Delete(ctx, rule)).To(Succeed())
			Eventually(func() int64 { return status(ctx, "cluster").Nodes[0].Resources[0].Allocatable }).Should(BeEquivalentTo(2))
		}

		By("a new generation that has arrived in part")
		Expect(k8s.Create(ctx, slice("a-2", "a", 2, 2, 0, 1))).To(Succeed())
		Eventually(func() v1.Reason { return status(ctx, "cluster").Nodes[0].Reason }).Should(Equal(v1.ReasonResourceSlicePoolIncomplete))

		By("all of it")
		Expect(k8s.Create(ctx, slice("a-3", "a", 2, 2, 2, 3))).To(Succeed())
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 4}))

		By("the driver going, which takes its slices with it")
		Expect(k8s.DeleteAllOf(ctx, &resourcev1.ResourceSlice{})).To(Succeed())
		Eventually(func() bool { return status(ctx, "cluster").Nodes[0].Ready }).Should(BeFalse())
		Expect(totals(ctx, "cluster")()).To(Equal([]int32{1, 0, 4}), "what was read stays known")
	})

	It("is not asked for in vain: no error and no retry storm where it is not served", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8))
		o := startOperator(ctx)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		Eventually(o.ready).Should(Succeed())
		o.proxy.Reset()
		Consistently(func() int {
			return len(o.proxy.Requests(func(r harness.Request) bool { return r.Group == "resource.k8s.io" }))
		}, "3s").Should(BeNumerically("<=", 1))
		if !servesSlices(ctx) {
			Expect(o.Log()).NotTo(ContainSubstring(`"level":"ERROR"`))
		}
	})

	It("that may not be read is said in Complete, and keeps nothing else from being told", func(ctx context.Context) {
		if !servesSlices(ctx) {
			Skip("this API server serves no resource.k8s.io/v1")
		}
		createNodes(ctx, gpuNode("a", 8))
		o := startOperator(ctx)
		Expect(o.Kill()).To(Succeed())
		freshInventory(ctx)
		o.proxy.SetFault(forbidden("resourceslices"))
		o.start()
		Eventually(totals(ctx, "cluster"), "30s").Should(Equal([]int32{1, 1, 8}))
		Expect(status(ctx, "cluster").Conditions).To(ContainElement(And(
			HaveField("Type", v1.ConditionComplete), HaveField("Status", metav1.ConditionFalse),
			HaveField("Reason", v1.ConditionReasonInputsNotSynced), HaveField("Message", ContainSubstring("ResourceSlices not read yet")),
		)))
		Expect(o.Log()).To(ContainSubstring("not allowed to; see the roles of the chart"))
		Expect(k8s.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &client.DeleteOptions{})).To(Succeed())
	})
})
