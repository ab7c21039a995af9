package e2e

import (
	"context"
	"maps"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func whenTheLeaderGoes() {
	It("another takes over within 5 s, writes nothing that was there and reports no Event again", func(ctx context.Context) {
		Eventually(readyPods(ctx)).Should(Equal(2))
		first, err := leader(ctx)()
		Expect(err).NotTo(HaveOccurred())
		before, err := inventory(ctx)
		Expect(err).NotTo(HaveOccurred())
		events := reported(ctx)

		deleted := time.Now()
		Expect(k8s.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: first}})).To(Succeed())
		var second string
		Eventually(func() (string, error) {
			second, err = leader(ctx)()
			return second, err
		}).WithPolling(50 * time.Millisecond).ShouldNot(BeElementOf(first, ""))
		took := time.Since(deleted)
		AddReportEntry("took over after the leader pod was deleted", took.Round(10*time.Millisecond).String())
		Expect(took).To(BeNumerically("<", 5*time.Second))

		Consistently(func() (string, error) {
			inv, err := inventory(ctx)
			return inv.ResourceVersion, err
		}).WithTimeout(5*time.Second).Should(Equal(before.ResourceVersion), "the successor wrote an inventory that had not changed")
		Expect(reported(ctx)).To(Equal(events))

		By("what changes now is written by the successor")
		labels := maps.Clone(productLabels)
		labels["nvidia.com/gpu.memory"] = "81920"
		labelGPUNode(ctx, labels)
		Eventually(row(ctx, gpuNode)).WithTimeout(5 * time.Second).Should(HaveField("Gpus", ConsistOf(HaveField("MemoryMiB", HaveValue(BeEquivalentTo(81920))))))
		Expect(leader(ctx)()).To(Equal(second))
		labelGPUNode(ctx, productLabels)
		Eventually(readyPods(ctx)).WithTimeout(time.Minute).Should(Equal(2))
	}, SpecTimeout(3*time.Minute))
}
