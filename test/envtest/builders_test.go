package envtest

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

// gpuNode is a ready Node with count GPUs, as GPU feature discovery and the device plugin describe it.
func gpuNode(name string, count int, mods ...func(*corev1.Node)) *corev1.Node {
	units := *resource.NewQuantity(int64(count), resource.DecimalSI)
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			"nvidia.com/gpu.present":                      "true",
			"nvidia.com/gpu.product":                      "NVIDIA-H100-80GB-HBM3",
			"nvidia.com/gpu.count":                        fmt.Sprint(count),
			"nvidia.com/gpu.memory":                       "81559",
			"nvidia.com/gpu.replicas":                     "1",
			"nvidia.com/gpu.sharing-strategy":             "none",
			"feature.node.kubernetes.io/pci-10de.present": "true",
		}},
		Status: corev1.NodeStatus{
			Capacity:    corev1.ResourceList{"cpu": resource.MustParse("64"), "nvidia.com/gpu": units},
			Allocatable: corev1.ResourceList{"cpu": resource.MustParse("64"), "nvidia.com/gpu": units},
		},
	}
	ready(corev1.ConditionTrue)(n)
	for _, mod := range mods {
		mod(n)
	}
	return n
}

// ready sets the Ready condition as a kubelet, or the node controller, would.
func ready(status corev1.ConditionStatus) func(*corev1.Node) {
	reasons := map[corev1.ConditionStatus]string{
		corev1.ConditionTrue: "KubeletReady", corev1.ConditionFalse: "KubeletNotReady", corev1.ConditionUnknown: "NodeStatusUnknown",
	}
	return func(n *corev1.Node) {
		at := metav1.Now().Rfc3339Copy()
		n.Status.Conditions = []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: status, Reason: reasons[status], LastHeartbeatTime: at, LastTransitionTime: at,
		}}
	}
}

func label(key, value string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels[key] = value }
}

func createNodes(ctx context.Context, nodes ...*corev1.Node) {
	GinkgoHelper()
	for _, n := range nodes {
		Expect(harness.CreateNode(ctx, k8s, n)).To(Succeed())
	}
}

func loadHomelab(ctx context.Context) {
	GinkgoHelper()
	nodes, err := harness.ReadNodes(homelab)
	Expect(err).NotTo(HaveOccurred())
	for i := range nodes {
		createNodes(ctx, &nodes[i])
	}
}

// patchNode changes a Node's labels and spec, patchNodeStatus its status, each in one request.
func patchNode(ctx context.Context, name string, mod func(*corev1.Node)) {
	GinkgoHelper()
	before, after := nodeTwice(ctx, name, mod)
	Expect(k8s.Patch(ctx, after, client.MergeFrom(before))).To(Succeed())
}

func patchNodeStatus(ctx context.Context, name string, mod func(*corev1.Node)) {
	GinkgoHelper()
	before, after := nodeTwice(ctx, name, mod)
	Expect(k8s.Status().Patch(ctx, after, client.MergeFrom(before))).To(Succeed())
}

func nodeTwice(ctx context.Context, name string, mod func(*corev1.Node)) (before, after *corev1.Node) {
	GinkgoHelper()
	before = &corev1.Node{}
	Expect(k8s.Get(ctx, client.ObjectKey{Name: name}, before)).To(Succeed())
	after = before.DeepCopy()
	mod(after)
	return before, after
}
