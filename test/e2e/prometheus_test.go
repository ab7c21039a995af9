package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

const (
	prometheus  = "prometheus" // the pod and its ServiceAccount
	nobody      = "nobody"     // a ServiceAccount without any right
	nobodyToken = "/etc/prometheus-nobody/token"
)

// The jobs of Prometheus: one as the chart's ServiceMonitor asks for, three that must be refused, and two that trust
// nothing but a certificate of the suite.
const (
	jobChart     = "chart"
	jobNoToken   = "no-token"
	jobNoRight   = "no-right"
	jobPlainHTTP = "plain-http"
	jobFirstCA   = "first-ca"
	jobSecondCA  = "second-ca"
)

// startPrometheus runs Prometheus in a pod, with what the chart renders for the Prometheus Operator as its configuration.
func startPrometheus(ctx context.Context) {
	GinkgoHelper()
	makeCertificates()
	values := map[string]any{
		"prometheusRule": map[string]any{"enabled": true},
		"metrics":        map[string]any{"serviceMonitor": map[string]any{"enabled": true}},
	}
	rendered, err := helm.render(values, "monitoring.coreos.com/v1", "monitoring.coreos.com/v1/ServiceMonitor", "monitoring.coreos.com/v1/PrometheusRule")
	Expect(err).NotTo(HaveOccurred())
	rules, err := yaml.Marshal(map[string]any{"groups": specOf(rendered, "PrometheusRule")["groups"]})
	Expect(err).NotTo(HaveOccurred())
	cfg, err := yaml.Marshal(prometheusConfig(scrapeConfig(specOf(rendered, "ServiceMonitor"))))
	Expect(err).NotTo(HaveOccurred())
	token, err := harness.ServiceAccountConfig(ctx, config, monitoring, createServiceAccount(ctx, nobody))
	Expect(err).NotTo(HaveOccurred())
	meta := metav1.ObjectMeta{Namespace: monitoring, Name: prometheus}
	inOperators := metav1.ObjectMeta{Namespace: namespace, Name: prometheus}
	for _, object := range []client.Object{
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{
			"prometheus.yaml": string(cfg), "rules.yaml": string(rules), jobFirstCA: certificates[0].ca, jobSecondCA: certificates[1].ca,
		}},
		&corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"token": token.BearerToken}},
		// What a Prometheus needs to find its targets; it is no right to scrape them.
		&rbacv1.Role{ObjectMeta: inOperators, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"pods", "services"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: []string{"get", "list", "watch"}},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: inOperators, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: prometheus},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: monitoring, Name: createServiceAccount(ctx, prometheus)}},
		},
		prometheusPod(meta),
	} {
		Expect(k8s.Create(ctx, object)).To(Succeed())
	}
	pod := &corev1.Pod{}
	Eventually(func() (bool, error) {
		err := k8s.Get(ctx, client.ObjectKey{Namespace: monitoring, Name: prometheus}, pod)
		return podReady(pod), err
	}).WithTimeout(helmTimeout).Should(BeTrue(), "Prometheus is not ready")
}

func createServiceAccount(ctx context.Context, name string) string {
	GinkgoHelper()
	Expect(k8s.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: monitoring, Name: name}})).To(Succeed())
	return name
}

func prometheusPod(meta metav1.ObjectMeta) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: meta,
		Spec: corev1.PodSpec{
			ServiceAccountName:            prometheus,
			SecurityContext:               restrictedPod(),
			TerminationGracePeriodSeconds: new(int64(5)),
			Containers: []corev1.Container{{
				Name: prometheus, Image: helm.settings.PrometheusImage, ImagePullPolicy: corev1.PullIfNotPresent,
				Args: []string{"--config.file=/etc/prometheus/prometheus.yaml", "--storage.tsdb.path=/data"},
				ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{
					HTTPGet: &corev1.HTTPGetAction{Path: "/-/ready", Port: intstr.FromInt32(9090)},
				}},
				SecurityContext: restrictedContainer(),
				VolumeMounts: []corev1.VolumeMount{
					{Name: "config", MountPath: "/etc/prometheus"}, {Name: "nobody", MountPath: "/etc/prometheus-nobody"}, {Name: "data", MountPath: "/data"},
				},
			}},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: prometheus}}}},
				{Name: "nobody", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: prometheus}}},
				{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
		},
	}
}
