package envtest

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

var _ = Describe("The chart's permissions", func() {
	It("are all that the operator needs, and no more", func(ctx context.Context) {
		freshCluster(ctx)
		createNodes(ctx, gpuNode("a", 8))
		used := map[string]bool{}
		var refused []string
		collect := func(o *operator) {
			for _, r := range o.proxy.Requests(func(r harness.Request) bool { return r.Resource != "" }) {
				resource := r.Resource
				if r.Subresource != "" {
					resource += "/" + r.Subresource
				}
				used[fmt.Sprintf("%s %s/%s", r.Verb, r.Group, resource)] = true
				if r.Verb == "patch" && r.Code == http.StatusCreated {
					used[fmt.Sprintf("create %s/%s", r.Group, resource)] = true // an apply that creates asks for both
				}
				if r.Code == http.StatusForbidden || r.Code == http.StatusUnauthorized {
					refused = append(refused, r.Path)
				}
			}
			o.proxy.Reset()
		}

		By("a life with all that happens: an inventory from a file, a scrape, a change, the same news twice, an election, an edit, a deletion")
		deleteInventories(ctx)
		path := filepath.Join(GinkgoT().TempDir(), "inventory.yaml")
		inventoryFile(path, "{}")
		o := startOperator(ctx, "--metrics-secure", "--inventory-file="+path)
		Eventually(o.scrapeCode(scraper(ctx, "prometheus", true))).Should(Equal(http.StatusOK))
		Eventually(madeAndCounted(ctx)).Should(Equal([]int32{1, 1, 8}))
		for range 2 {
			patchNodeStatus(ctx, "a", ready(corev1.ConditionFalse))
			Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 0, 8}))
			patchNodeStatus(ctx, "a", ready(corev1.ConditionTrue))
			Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		}
		cm, err := configMap(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(k8s.Delete(ctx, cm)).To(Succeed())
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpus=8"))
		Eventually(func() []harness.Request {
			return o.proxy.Requests(func(r harness.Request) bool { return r.Resource == "events" && r.Verb == "patch" })
		}).ShouldNot(BeEmpty())
		Expect(o.Stop()).To(Succeed())
		collect(o)

		By("a server that cannot stream lists, as before Kubernetes 1.34")
		GinkgoT().Setenv("KUBE_FEATURE_WatchListClient", "false")
		o.start()
		Eventually(o.ready).Should(Succeed())
		collect(o)

		Expect(refused).To(BeEmpty())
		Expect(usable(granted(ctx))).To(ConsistOf(keys(used)), "granted verbs, and verbs that the operator used")
	})
})

// usable leaves out what this API server does not serve: DRA, before Kubernetes 1.34.
func usable(rules []string) []string {
	GinkgoHelper()
	disco, err := discovery.NewDiscoveryClientForConfig(controlPlane.Config)
	Expect(err).NotTo(HaveOccurred())
	groups, err := disco.ServerGroups()
	Expect(err).NotTo(HaveOccurred())
	served := func(g metav1.APIGroup) bool { return g.Name == "resource.k8s.io" }
	if slices.ContainsFunc(groups.Groups, served) {
		return rules
	}
	return slices.DeleteFunc(rules, func(rule string) bool { return strings.Contains(rule, " resource.k8s.io/") })
}

// granted are the verbs and resources of the roles bound to the chart's ServiceAccount.
func granted(ctx context.Context) []string {
	GinkgoHelper()
	var rules []rbacv1.PolicyRule
	var clusterRole rbacv1.ClusterRole
	Expect(k8s.Get(ctx, client.ObjectKey{Name: release}, &clusterRole)).To(Succeed())
	rules = append(rules, clusterRole.Rules...)
	var roles rbacv1.RoleList
	Expect(k8s.List(ctx, &roles, client.InNamespace(namespace))).To(Succeed())
	for _, role := range roles.Items {
		rules = append(rules, role.Rules...)
	}
	set := map[string]bool{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					set[fmt.Sprintf("%s %s/%s", verb, group, resource)] = true
				}
			}
		}
	}
	return keys(set)
}

func keys(set map[string]bool) []string {
	var out []string
	for k := range set {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func deleteInventories(ctx context.Context) {
	GinkgoHelper()
	Expect(k8s.DeleteAllOf(ctx, &v1.GpuInventory{})).To(Succeed())
}
