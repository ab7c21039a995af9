package e2e

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

const product = "NVIDIA-H100-80GB-HBM3"

// productLabels are what GPU feature discovery would write for the devices that the platform pretends.
var productLabels = map[string]string{
	"nvidia.com/gpu.product": product, "nvidia.com/gpu.count": "4", "nvidia.com/gpu.replicas": "1",
	"nvidia.com/gpu.memory": "81559", "nvidia.com/gpu.sharing-strategy": "none",
}

// gpuNode is the Node to which the platform gives devices, from the first of the specs on.
var gpuNode string

func withGPUs() {
	It("devices that a device plugin registers are counted, ready and free", func(ctx context.Context) {
		machine.gpus(ctx, gpus)
		Eventually(findGPUNode(ctx)).Should(BeTrue(), "no Node offers %d %s", gpus, gpuResource)
		Eventually(totals(ctx)).Should(Equal(counts{Nodes: 1, ReadyNodes: 1, GPUs: gpus, ReadyGPUs: gpus, Free: gpus}))
		Expect(configMap(ctx)).To(HaveKeyWithValue("summary", ContainSubstring("gpu_nodes=1 ready=1 gpus=4")))
		expectEvent(ctx, nil, v1.EventGpuNodeAdded, gpuNode)
	}, SpecTimeout(time.Minute))

	It("their product is unknown until labels name it", func(ctx context.Context) {
		inv, err := inventory(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(inv.Status.Products).To(ConsistOf(HaveField("Product", BeEmpty())))
		Expect(condition(ctx, v1.ConditionComplete)()).To(Equal("False " + v1.ConditionReasonFactsUnknown))

		labelGPUNode(ctx, productLabels)
		Eventually(condition(ctx, v1.ConditionComplete)).Should(HavePrefix("True"))
		inv, err = inventory(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(inv.Status.Products).To(ConsistOf(SatisfyAll(
			HaveField("Product", product), HaveField("Gpus", HaveValue(BeEquivalentTo(gpus))), HaveField("LargestFree", HaveValue(BeEquivalentTo(gpus))))))
		Expect(condition(ctx, v1.ConditionHealthy)()).To(HavePrefix("True"))
		Expect(configMap(ctx)).To(HaveKeyWithValue("nodes", ContainSubstring(product+" x4 mem=81559")))
	}, SpecTimeout(time.Minute))

	It("a pod that the scheduler gives a GPU takes it out of the free ones, until it is gone", func(ctx context.Context) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: workloads, Name: "one-gpu"},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "pause", Image: helm.settings.PauseImage, ImagePullPolicy: corev1.PullIfNotPresent,
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{gpuResource: resource.MustParse("1")}},
			}}},
		}
		Expect(k8s.Create(ctx, pod)).To(Succeed())
		Eventually(func() (corev1.PodPhase, error) {
			err := k8s.Get(ctx, client.ObjectKeyFromObject(pod), pod)
			return pod.Status.Phase, err
		}).Should(Equal(corev1.PodRunning))
		Expect(pod.Spec.NodeName).To(Equal(gpuNode))
		Eventually(totals(ctx)).Should(Equal(counts{Nodes: 1, ReadyNodes: 1, GPUs: gpus, ReadyGPUs: gpus, Free: gpus - 1}))
		inv, err := inventory(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(inv.Status.Resources).To(ConsistOf(SatisfyAll(
			HaveField("Name", gpuResource), HaveField("Allocated", HaveValue(BeEquivalentTo(1))), HaveField("Free", HaveValue(BeEquivalentTo(gpus-1))))))

		deleteAndWait(ctx, pod)
		Eventually(totals(ctx)).Should(Equal(counts{Nodes: 1, ReadyNodes: 1, GPUs: gpus, ReadyGPUs: gpus, Free: gpus}))
	}, SpecTimeout(2*time.Minute))

	It("a GPU that turns unhealthy is no longer ready or free, and its node says so", func(ctx context.Context) {
		before := reported(ctx)
		machine.unhealthy(ctx, 1)
		Eventually(totals(ctx)).Should(Equal(counts{Nodes: 1, ReadyNodes: 1, GPUs: gpus, ReadyGPUs: gpus - 1, Free: gpus - 1}))
		Expect(condition(ctx, v1.ConditionHealthy)()).To(Equal("False " + v1.ConditionReasonGpusUnhealthy))
		Expect(row(ctx, gpuNode)()).To(SatisfyAll(
			HaveField("Ready", true), HaveField("Reason", v1.ReasonOK), HaveField("Warnings", ContainElement(v1.WarningSomeGpusUnhealthy))))
		expectEvent(ctx, before, v1.EventGpusUnhealthy, gpuNode)

		By("healing it")
		before = reported(ctx)
		machine.unhealthy(ctx, 0)
		Eventually(totals(ctx)).Should(Equal(counts{Nodes: 1, ReadyNodes: 1, GPUs: gpus, ReadyGPUs: gpus, Free: gpus}))
		Expect(condition(ctx, v1.ConditionHealthy)()).To(HavePrefix("True"))
		expectEvent(ctx, before, v1.EventGpusHealthy, gpuNode)
	}, SpecTimeout(2*time.Minute))
}

// findGPUNode finds the Node that offers the devices and remembers it.
func findGPUNode(ctx context.Context) func() (bool, error) {
	return func() (bool, error) {
		var nodes corev1.NodeList
		if err := k8s.List(ctx, &nodes); err != nil {
			return false, err
		}
		for _, node := range nodes.Items {
			if offered := node.Status.Allocatable[gpuResource]; offered.Value() == gpus {
				gpuNode = node.Name
				return true, nil
			}
		}
		return false, nil
	}
}

// labelGPUNode gives the node the labels, and takes away those of productLabels that are not among them.
func labelGPUNode(ctx context.Context, labels map[string]string) {
	GinkgoHelper()
	if gpuNode == "" {
		return
	}
	merge := map[string]any{}
	for key := range productLabels {
		merge[key] = nil
	}
	for key, value := range labels {
		merge[key] = value
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": merge}})
	Expect(err).NotTo(HaveOccurred())
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: gpuNode}}
	Expect(k8s.Patch(ctx, node, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}
