package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func inAnUpgradeAndARollback() {
	It("changed values roll out without a moment in which no replica is ready", func(ctx context.Context) {
		Eventually(readyPods(ctx)).WithTimeout(time.Minute).Should(Equal(2))
		beforeCounts, err := totals(ctx)()
		Expect(err).NotTo(HaveOccurred())
		beforeEvents := reported(ctx)
		fewest := watchReadyPods(ctx)
		Expect(helm.upgrade(ctx, map[string]any{
			"log": map[string]any{"level": "debug"}, "metrics": map[string]any{"perNodeLimit": 5}, "inventory": map[string]any{"note": "as upgraded"},
		})).To(Succeed())
		Expect(readyPods(ctx)()).To(Equal(2), "helm upgrade --wait has come back")
		Expect(fewest()).To(BeNumerically(">=", 1), "replicas that were ready at the worst moment")

		Eventually(note(ctx)).Should(Equal("as upgraded"))
		Expect(managerArgs(ctx)).To(ContainElements("--log-level=debug", "--per-node-metrics-limit=5"))
		Expect(totals(ctx)()).To(Equal(beforeCounts))
		Expect(reported(ctx)).To(Equal(beforeEvents), "an upgrade is no news about GPUs")
	}, SpecTimeout(3*time.Minute))

	It("a rollback brings the values back, as smoothly", func(ctx context.Context) {
		Eventually(readyPods(ctx)).WithTimeout(time.Minute).Should(Equal(2))
		beforeCounts, err := totals(ctx)()
		Expect(err).NotTo(HaveOccurred())
		beforeEvents := reported(ctx)
		fewest := watchReadyPods(ctx)
		Expect(helm.rollback()).To(Succeed())
		Expect(readyPods(ctx)()).To(Equal(2), "helm rollback --wait has come back")
		Expect(fewest()).To(BeNumerically(">=", 1), "replicas that were ready at the worst moment")

		Eventually(note(ctx)).Should(Equal("as installed"))
		Expect(managerArgs(ctx)).To(ContainElements("--log-level=info", "--per-node-metrics-limit=1000"))
		needsPrometheus()
		Eventually(targets(ctx, jobChart)).WithTimeout(time.Minute).Should(bothAre(up))
		Expect(totals(ctx)()).To(Equal(beforeCounts))
		Expect(reported(ctx)).To(Equal(beforeEvents), "a rollback is no news about GPUs")
	}, SpecTimeout(3*time.Minute))
}

// This comes after the audit log: the permission for TokenReviews goes before the pods that still ask for them.
func withoutMetricsSecure() {
	It("whoever asks in plain HTTP is answered", func(ctx context.Context) {
		needsPrometheus()
		Expect(helm.upgrade(ctx, map[string]any{"metrics": map[string]any{"secure": false, "certificate": map[string]any{"secretName": ""}}})).To(Succeed())
		Eventually(targets(ctx, jobPlainHTTP)).Should(bothAre(up))
		Eventually(targets(ctx, jobChart)).Should(bothAre(HaveField("Health", "down")))
	}, SpecTimeout(3*time.Minute))
}

func note(ctx context.Context) func() (string, error) {
	return func() (string, error) {
		inv, err := inventory(ctx)
		return inv.Spec.Note, err
	}
}

// managerArgs are the arguments of the newest of the operator's pods.
func managerArgs(ctx context.Context) ([]string, error) {
	pods, err := operatorPods(ctx)
	if err != nil || len(pods) == 0 {
		return nil, err
	}
	newest := pods[0]
	for _, pod := range pods {
		if pod.CreationTimestamp.After(newest.CreationTimestamp.Time) {
			newest = pod
		}
	}
	return newest.Spec.Containers[0].Args, nil
}

// watchReadyPods counts the ready pods of the operator at each change from now on. The function that it returns ends that
// and says how many there were when there were fewest.
func watchReadyPods(ctx context.Context) func() int {
	GinkgoHelper()
	selector, err := operatorSelector(ctx)
	Expect(err).NotTo(HaveOccurred())
	changes, err := k8s.Watch(ctx, &corev1.PodList{}, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector})
	Expect(err).NotTo(HaveOccurred())
	pods, err := operatorPods(ctx)
	Expect(err).NotTo(HaveOccurred())
	ready := map[string]bool{}
	for _, pod := range pods {
		ready[pod.Name] = podReady(&pod)
	}
	count := func() int {
		n := 0
		for _, is := range ready {
			if is {
				n++
			}
		}
		return n
	}
	result := make(chan int)
	go func() {
		fewest := count()
		for change := range changes.ResultChan() {
			if pod, ok := change.Object.(*corev1.Pod); ok {
				ready[pod.Name] = podReady(pod) && change.Type != watch.Deleted
				fewest = min(fewest, count())
			}
		}
		result <- fewest
	}()
	return func() int {
		changes.Stop()
		return <-result
	}
}
