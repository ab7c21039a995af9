package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func scrapedByPrometheus() {
	It("a real Prometheus runs, configured by what the chart renders for the Prometheus Operator", func(ctx context.Context) {
		startPrometheus(ctx)
		prometheusRuns = true
	}, SpecTimeout(3*time.Minute))

	refused := func(why string) types.GomegaMatcher {
		return bothAre(SatisfyAll(HaveField("Health", "down"), HaveField("LastError", ContainSubstring(why))))
	}

	It("a scrape without a token is refused with 401", func(ctx context.Context) {
		needsPrometheus()
		Eventually(targets(ctx, jobNoToken)).Should(refused("401 Unauthorized"))
	}, SpecTimeout(time.Minute))

	It("a scrape with the token of somebody without the right is refused with 403", func(ctx context.Context) {
		needsPrometheus()
		Eventually(targets(ctx, jobNoRight)).Should(refused("403 Forbidden"))
	}, SpecTimeout(time.Minute))

	It("plain HTTP is refused with 400", func(ctx context.Context) {
		needsPrometheus()
		Eventually(targets(ctx, jobPlainHTTP)).Should(refused("400 Bad Request"))
	}, SpecTimeout(time.Minute))

	It("Prometheus is refused too, until its ServiceAccount is bound to the role metrics-reader", func(ctx context.Context) {
		needsPrometheus()
		Eventually(targets(ctx, jobChart)).Should(refused("403 Forbidden"))
		Expect(k8s.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: monitoring},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: releaseName + "-metrics-reader"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: monitoring, Name: prometheus}},
		})).To(Succeed())
		bound := time.Now()
		Eventually(targets(ctx, jobChart)).WithTimeout(time.Minute).Should(bothAre(up))
		AddReportEntry("scraped after the role was bound", time.Since(bound).Round(100*time.Millisecond).String())
	}, SpecTimeout(2*time.Minute))

	It("a sum over both replicas counts each GPU once", func(ctx context.Context) {
		needsPrometheus()
		Eventually(query(ctx, `sum(gpu_inventory_gpus{inventory="cluster",product="`+product+`"})`)).Should(Equal("4"))
		Eventually(query(ctx, `sum(gpu_inventory_node_ready{node="`+gpuNode+`"})`)).Should(Equal("1"))
		Eventually(query(ctx, `count(gpu_inventory_build_info)`)).Should(Equal("2"))
		Eventually(query(ctx, `sum(gpu_inventory_leader)`)).Should(Equal("1"))
	}, SpecTimeout(time.Minute))

	It("the chart's alert rules load and evaluate without an error", func(ctx context.Context) {
		needsPrometheus()
		Eventually(loadedRules(ctx)).Should(SatisfyAll(
			ContainElement(HaveField("Name", "GPUNodeNotReady")),
			HaveEach(SatisfyAll(HaveField("Health", "ok"), HaveField("LastError", BeEmpty())))))
		rules, err := loadedRules(ctx)()
		Expect(err).NotTo(HaveOccurred())
		AddReportEntry("alert rules loaded", len(rules))
	}, SpecTimeout(time.Minute))

	It("no alert is pending while all is well", func(ctx context.Context) {
		needsPrometheus()
		Eventually(alerts(ctx)).Should(BeEmpty())
		Consistently(alerts(ctx)).WithTimeout(5 * time.Second).Should(BeEmpty())
	}, SpecTimeout(time.Minute))
}

// prometheusRuns is set by the first of the specs about Prometheus.
var prometheusRuns bool

// needsPrometheus fails at once what cannot work without it.
func needsPrometheus() {
	GinkgoHelper()
	Expect(prometheusRuns).To(BeTrue(), "Prometheus has not started: see its first spec")
}

// up matches a target that is scraped.
var up = SatisfyAll(HaveField("Health", "up"), HaveField("LastError", BeEmpty()))

// bothAre matches the targets of a job when there is one for each replica, and both match.
func bothAre(matcher types.GomegaMatcher) types.GomegaMatcher { return ConsistOf(matcher, matcher) }
