package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// On a cluster of one node the operator's pods are on the node whose kubelet stops. Kubernetes then calls them not ready,
// and would evict them after five minutes; until then the processes go on, and so must the inventory.
func whenAKubeletStops() {
	var holder string

	It("its node turns NotReady with the reason NodeStatusUnknown, and what it had last said stays", func(ctx context.Context) {
		var err error
		holder, err = leader(ctx)()
		Expect(err).NotTo(HaveOccurred())
		before, stopped := reported(ctx), time.Now()
		machine.stopKubelet(ctx)

		Eventually(row(ctx, gpuNode)).WithTimeout(90 * time.Second).Should(SatisfyAll(
			HaveField("Ready", false), HaveField("Reason", v1.ReasonNodeStatusUnknown), HaveField("Message", Not(BeEmpty()))))
		AddReportEntry("the inventory said so", time.Since(stopped).Round(100*time.Millisecond).String()+" after the kubelet stopped")
		Expect(row(ctx, gpuNode)()).To(SatisfyAll(
			HaveField("GpuCount", HaveValue(BeEquivalentTo(gpus))),
			HaveField("Gpus", ConsistOf(SatisfyAll(HaveField("Product", product), HaveField("Count", HaveValue(BeEquivalentTo(gpus))))))))
		Expect(totals(ctx)()).To(Equal(counts{Nodes: 1, ReadyNodes: 0, GPUs: gpus, ReadyGPUs: 0, Free: 0}))
		Expect(condition(ctx, v1.ConditionHealthy)()).To(Equal("False " + v1.ConditionReasonNodesNotReady))
		Expect(configMap(ctx)).To(HaveKeyWithValue("nodes", ContainSubstring(string(v1.ReasonNodeStatusUnknown))))
		expectEvent(ctx, before, v1.EventGpuNodeNotReady, gpuNode)
	}, SpecTimeout(2*time.Minute))

	It("the alert for the node is pending", func(ctx context.Context) {
		needsPrometheus()
		Eventually(alerts(ctx)).Should(ContainElement(SatisfyAll(
			HaveField("Name", "GPUNodeNotReady"), HaveField("State", "pending"), HaveField("Labels", HaveKeyWithValue("node", gpuNode)))))
	}, SpecTimeout(time.Minute))

	It("the same replica still leads, and no alert says that none does", func(ctx context.Context) {
		needsPrometheus()
		Expect(leader(ctx)()).To(Equal(holder))
		Expect(alerts(ctx)()).NotTo(ContainElement(HaveField("Name", HavePrefix("GPUInventory"))))
		Expect(alerts(ctx)()).NotTo(ContainElement(HaveField("Name", "GPUNoLeader")))
	}, SpecTimeout(time.Minute))

	It("all is well again once it runs", func(ctx context.Context) {
		before := reported(ctx)
		machine.startKubelet(ctx)
		Eventually(totals(ctx)).WithTimeout(time.Minute).Should(Equal(counts{Nodes: 1, ReadyNodes: 1, GPUs: gpus, ReadyGPUs: gpus, Free: gpus}))
		Expect(condition(ctx, v1.ConditionHealthy)()).To(HavePrefix("True"))
		expectEvent(ctx, before, v1.EventGpuNodeReady, gpuNode)

		By("the replicas are what they were")
		Eventually(readyPods(ctx)).WithTimeout(time.Minute).Should(Equal(2))
		Expect(leader(ctx)()).To(Equal(holder))
		pods, err := operatorPods(ctx)
		Expect(err).NotTo(HaveOccurred())
		for _, pod := range pods {
			Expect(pod.Status.ContainerStatuses[0].RestartCount).To(BeZero(), "restarts of %s", client.ObjectKeyFromObject(&pod))
		}
	}, SpecTimeout(3*time.Minute))

	It("no replica has logged an error in all that time", func(ctx context.Context) {
		pods, err := operatorPods(ctx)
		Expect(err).NotTo(HaveOccurred())
		for _, pod := range pods {
			Expect(loggedErrors(ctx, pod.Name)).To(BeEmpty(), "errors in the log of %s", pod.Name)
		}
	}, SpecTimeout(time.Minute))
}

// lostFirstElection is what client-go calls an error when both replicas have found no Lease and the other was first to
// create it.
const lostFirstElection = "Error initially creating lease lock"

// loggedErrors are the entries of a pod's log that are errors, and lines that are no entries, such as those of a panic.
func loggedErrors(ctx context.Context, pod string) ([]string, error) {
	log, err := clientset.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(log)) {
		var entry struct {
			Level string `json:"level"`
			Msg   string `json:"msg"`
		}
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Level == "ERROR" && entry.Msg != lostFirstElection {
			out = append(out, line)
		}
	}
	return out, nil
}
