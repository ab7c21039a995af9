package envtest

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

var _ = Describe("Two replicas", func() {
	var a, b *operator

	// exposing are the replicas that expose inventory series.
	exposing := func() (out []*operator) {
		for _, o := range []*operator{a, b} {
			if metrics, err := o.Metrics(); err == nil && strings.Contains(metrics, "gpu_inventory_nodes{") {
				out = append(out, o)
			}
		}
		return out
	}
	leads := func(o *operator) func() bool {
		return func() bool {
			metrics, err := o.Metrics()
			return err == nil && strings.Contains(metrics, "gpu_inventory_leader 1")
		}
	}

	BeforeEach(func(ctx context.Context) {
		freshCluster(ctx)
		createNodes(ctx, gpuNode("a", 8))
		a = startOperator(ctx)
		Eventually(leads(a)).Should(BeTrue())
		b = startOperator(ctx)
		Eventually(b.ready).Should(Succeed(), "a standby is ready: its caches are warm")
		Eventually(exposing).Should(ConsistOf(a))
	})

	// observe watches for as long as takeover runs that never both expose inventory series.
	observe := func(takeover func()) {
		stop, done := make(chan struct{}), make(chan int)
		go func() {
			most := 0
			for {
				select {
				case <-stop:
					done <- most
					return
				case <-time.After(20 * time.Millisecond):
					most = max(most, len(exposing()))
				}
			}
		}()
		takeover()
		close(stop)
		Expect(<-done).To(BeNumerically("<=", 1), "replicas that expose inventory series at a time")
	}

	It("have one writer", func(ctx context.Context) {
		patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 0, 8}))
		Consistently(func() int { return b.statusWrites() + b.configMapWrites() }, "1s").Should(BeZero())
	})

	It("hand over within 5 s when the leader is stopped, which releases the Lease and exits 0", func(ctx context.Context) {
		observe(func() {
			stopped := time.Now()
			Expect(a.Stop()).To(Succeed())
			patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
			Eventually(totals(ctx, "cluster"), "10s").Should(Equal([]int32{1, 0, 8}))
			AddReportEntry("took over after a clean stop", time.Since(stopped).String())
			Expect(time.Since(stopped)).To(BeNumerically("<", 5*time.Second))
		})
		Expect(a.Logged("Stopped")).To(HaveLen(1))
		Eventually(exposing).Should(ConsistOf(b))
	})

	It("hand over within 25 s when the leader is killed", func(ctx context.Context) {
		observe(func() {
			killed := time.Now()
			Expect(a.Kill()).To(Succeed())
			patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
			Eventually(totals(ctx, "cluster"), "40s").Should(Equal([]int32{1, 0, 8}))
			AddReportEntry("took over after a crash", time.Since(killed).String())
			Expect(time.Since(killed)).To(BeNumerically("<", 25*time.Second))
		})
		Eventually(exposing).Should(ConsistOf(b))
	})

	It("hand over when the leader loses its API server, which runs on as a standby", func(ctx context.Context) {
		observe(func() {
			a.proxy.SetFault(unreachable)
			patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
			Eventually(totals(ctx, "cluster"), "40s").Should(Equal([]int32{1, 0, 8}))
			a.proxy.SetFault(nil)
			Eventually(func() (string, error) { return a.Metrics() }).Should(ContainSubstring("gpu_inventory_leader 0"))
		})
		By("leading again when the other has gone")
		Expect(b.Stop()).To(Succeed())
		Eventually(leads(a), "10s").Should(BeTrue())
		patchNodeStatus(ctx, "a", ready(corev1.ConditionTrue))
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		Expect(a.Exited()).NotTo(BeClosed(), "it never restarted")
	})
})
