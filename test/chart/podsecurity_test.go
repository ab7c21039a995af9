package chart

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestPodsPassTheRestrictedPodSecurityStandard(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			var ns corev1.Namespace
			if err := c.Get(t.Context(), client.ObjectKey{Name: c.namespace}, &ns); err != nil {
				t.Fatal(err)
			}
			ns.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
			if err := c.Update(t.Context(), &ns); err != nil {
				t.Fatal(err)
			}
			template := only[*appsv1.Deployment](t, render(t, values)).Spec.Template
			c.assertRestricted(t, &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec})
			for _, pod := range pick[*corev1.Pod](renderTest(t, values)) {
				c.assertRestricted(t, pod)
			}
		})
	}
}

func (c *cluster) assertRestricted(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	pod.Namespace, pod.Name = c.namespace, "pod"
	loose := pod.DeepCopy()
	loose.Spec.Containers[0].SecurityContext.Capabilities = nil
	if err := c.Create(t.Context(), loose, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Fatalf("create pod that keeps its capabilities: %v, want that the standard forbids it", err)
	}
	if err := c.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Errorf("create pod: %v", err)
	}
	if got := pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem; got == nil || !*got {
		t.Error("the root file system can be written")
	}
}
