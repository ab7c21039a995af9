package e2e

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// nameTheService lets pods find the operator's Service by its DNS name on a cluster without DNS, which a small cluster for
// development may be: an admission policy gives new pods an entry in /etc/hosts. With DNS it does nothing.
func nameTheService(ctx context.Context) {
	GinkgoHelper()
	err := k8s.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kube-dns"}, &corev1.Service{})
	if !apierrors.IsNotFound(err) {
		Expect(err).NotTo(HaveOccurred())
		return
	}
	By("naming the Service in /etc/hosts: this cluster has no DNS")
	var service corev1.Service
	Expect(k8s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: releaseName + "-metrics"}, &service)).To(Succeed())
	meta := metav1.ObjectMeta{Name: namespace + "-names"}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: meta.Name}}
	for _, object := range []client.Object{hostsPolicy(meta, service.Spec.ClusterIP), binding} {
		Expect(k8s.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { deleteAndWait(ctx, object) }, NodeTimeout(time.Minute))
	}
	Eventually(func() ([]corev1.HostAlias, error) {
		pod := probePod()
		err := k8s.Create(ctx, pod, client.DryRunAll)
		return pod.Spec.HostAliases, err
	}).Should(HaveLen(1), "the admission policy does not come into force")
}

func hostsPolicy(meta metav1.ObjectMeta, ip string) *admissionv1.MutatingAdmissionPolicy {
	return &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: meta,
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			FailurePolicy:      new(admissionv1.Fail),
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
			Mutations: []admissionv1.Mutation{{
				PatchType: admissionv1.PatchTypeJSONPatch,
				JSONPatch: &admissionv1.JSONPatch{Expression: fmt.Sprintf(
					`[JSONPatch{op: "add", path: "/spec/hostAliases", value: [Object.spec.hostAliases{ip: %q, hostnames: [%q]}]}]`, ip, metricsHost)},
			}},
		},
	}
}

// probePod is a pod that the operator's namespace admits.
func probePod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"},
		Spec: corev1.PodSpec{
			SecurityContext: restrictedPod(),
			Containers:      []corev1.Container{{Name: "pause", Image: helm.settings.PauseImage, SecurityContext: restrictedContainer()}},
		},
	}
}

// restrictedPod and restrictedContainer are what the Pod Security level restricted asks for.
func restrictedPod() *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), RunAsUser: new(int64(65532)),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func restrictedContainer() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}
