package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func whenItIsUninstalled() {
	var uid types.UID

	It("the CustomResourceDefinition and the GpuInventory with its status stay, and all else goes", func(ctx context.Context) {
		before, err := inventory(ctx)
		Expect(err).NotTo(HaveOccurred())
		uid = before.UID
		Expect(helm.uninstall(false)).To(Succeed())

		after, err := inventory(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(after.UID).To(Equal(uid))
		Expect(after.Status).To(Equal(before.Status))
		Eventually(leftovers(ctx)).WithTimeout(time.Minute).Should(ConsistOf("CustomResourceDefinition " + crdName))
	}, SpecTimeout(3*time.Minute))

	It("an install takes over what has stayed", func(ctx context.Context) {
		events := reported(ctx)
		installed := time.Now()
		Expect(helm.install(ctx, firstValues())).To(Succeed())
		pods, err := operatorPods(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(pods).To(HaveLen(2))
		// The release before lost its permissions before it could give up the Lease, which then has to run out.
		Eventually(leader(ctx)).Should(BeElementOf(pods[0].Name, pods[1].Name))
		AddReportEntry("led after the install began", time.Since(installed).Round(100*time.Millisecond).String())
		Eventually(totals(ctx)).Should(Equal(counts{Nodes: 1, ReadyNodes: 1, GPUs: gpus, ReadyGPUs: gpus, Free: gpus}))
		Expect(reported(ctx)).To(Equal(events), "nothing has changed meanwhile")
		inv, err := inventory(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(inv.UID).To(Equal(uid))

		By("the successor keeps it current")
		labelGPUNode(ctx, map[string]string{})
		Eventually(row(ctx, gpuNode)).Should(HaveField("Warnings", ContainElement(BeEquivalentTo("LabelsMissing"))))
	}, SpecTimeout(3*time.Minute))

	It("with crds.keep=false it takes the CustomResourceDefinition and every GpuInventory with it", func(ctx context.Context) {
		Expect(helm.upgrade(ctx, map[string]any{"crds": map[string]any{"keep": false}})).To(Succeed())
		Expect(helm.uninstall(false)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(k8s.Get(ctx, client.ObjectKey{Name: crdName}, &apiextensionsv1.CustomResourceDefinition{}))
		}).Should(BeTrue())
		Eventually(leftovers(ctx)).WithTimeout(time.Minute).Should(BeEmpty())
	}, SpecTimeout(3*time.Minute))
}

// leftovers are the objects of the release that are still there, of every kind that it has.
func leftovers(ctx context.Context) func() ([]string, error) {
	lists := map[string]client.ObjectList{
		"CustomResourceDefinition": &apiextensionsv1.CustomResourceDefinitionList{}, "ClusterRole": &rbacv1.ClusterRoleList{},
		"ClusterRoleBinding": &rbacv1.ClusterRoleBindingList{}, "Role": &rbacv1.RoleList{}, "RoleBinding": &rbacv1.RoleBindingList{},
		"Deployment": &appsv1.DeploymentList{}, "ReplicaSet": &appsv1.ReplicaSetList{}, "Pod": &corev1.PodList{}, "Service": &corev1.ServiceList{},
		"ServiceAccount": &corev1.ServiceAccountList{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudgetList{},
	}
	return func() ([]string, error) {
		var out []string
		for kind, list := range lists {
			if err := k8s.List(ctx, list, client.MatchingLabels{"app.kubernetes.io/instance": releaseName}); err != nil {
				return nil, err
			}
			err := meta.EachListItem(list, func(o runtime.Object) error {
				out = append(out, kind+" "+o.(client.Object).GetName())
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}
