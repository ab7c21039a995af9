package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

func afterTheInstall() {
	It("two replicas are ready, where Pod Security admits only restricted pods", func(ctx context.Context) {
		var ns corev1.Namespace
		Expect(k8s.Get(ctx, client.ObjectKey{Name: namespace}, &ns)).To(Succeed())
		Expect(ns.Labels).To(HaveKeyWithValue("pod-security.kubernetes.io/enforce", "restricted"))
		pods, err := operatorPods(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(pods).To(HaveLen(2))
		for _, pod := range pods {
			Expect(podReady(&pod)).To(BeTrue(), "helm install --wait has come back, and %s is not ready", pod.Name)
			Expect(pod.Spec.Containers[0].Image).To(Equal(helm.settings.Repository + ":" + helm.settings.Tag))
			Expect(pod.Status.ContainerStatuses[0].RestartCount).To(BeZero())
		}
	}, SpecTimeout(time.Minute))

	It("one of them leads and has answered: there is no GPU to use", func(ctx context.Context) {
		pods, err := operatorPods(ctx)
		Expect(err).NotTo(HaveOccurred())
		Eventually(leader(ctx)).Should(BeElementOf(pods[0].Name, pods[1].Name))
		// A kubelet goes on to report the capacity of a device plugin that is gone: then its node counts, and offers nothing.
		Eventually(totals(ctx)).Should(SatisfyAll(HaveField("Nodes", BeNumerically(">=", 0)), HaveField("ReadyGPUs", BeZero()), HaveField("Free", BeZero())))
		Eventually(condition(ctx, v1.ConditionComplete)).ShouldNot(HaveSuffix(v1.ConditionReasonInputsNotSynced))
		Expect(configMap(ctx)).To(HaveKeyWithValue("summary", ContainSubstring("ready=0")))
	}, SpecTimeout(time.Minute))

	It("the GpuInventory is as the values declare it", func(ctx context.Context) {
		inv, err := inventory(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(inv.Spec.Note).To(Equal("as installed"))
	}, SpecTimeout(time.Minute))

	It("helm test passes", func(ctx context.Context) {
		nameTheService(ctx)
		phases, output, err := helm.test()
		say("helm test:\n%s", output)
		Expect(err).NotTo(HaveOccurred(), output)
		Expect(phases).NotTo(BeEmpty(), "the chart has no test")
		Expect(phases).To(HaveEach("Succeeded"))
	}, SpecTimeout(3*time.Minute))
}

// configMap is the content of the operator's ConfigMap.
func configMap(ctx context.Context) (map[string]string, error) {
	var cm corev1.ConfigMap
	err := k8s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "gpu-node-status"}, &cm)
	return cm.Data, err
}
