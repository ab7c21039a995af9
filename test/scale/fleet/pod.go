package fleet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Namespaces is how many namespaces the Pods are spread over.
const Namespaces = 20

// Namespace is the name of the i-th namespace.
func Namespace(i int) string { return fmt.Sprintf("team-%02d", i%Namespaces) }

// gpuEvery is how many pods there are to one that holds GPUs.
const gpuEvery = 5

// PodGPUs is how many GPUs the i-th Pod holds: every fifth holds one.
func PodGPUs(i int) int64 {
	if i%gpuEvery == 0 {
		return 1
	}
	return 0
}

// Pod is the i-th Pod, bound to one of so many Nodes. It stays Pending, which holds GPUs as Running does and needs no write
// of its status.
func Pod(i, nodes int) *corev1.Pod {
	name := fmt.Sprintf("workload-%06d-7c9f6d5b8b-x%04x", i, i%65536)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: Namespace(i), Name: name,
			Labels: map[string]string{
				"app.kubernetes.io/name": "workload", "app.kubernetes.io/instance": fmt.Sprintf("workload-%06d", i),
				"app.kubernetes.io/version": "1.42.0", "pod-template-hash": "7c9f6d5b8b", "team": Namespace(i),
			},
			Annotations: map[string]string{
				"prometheus.io/scrape": "true", "prometheus.io/port": "9090",
				"checksum/config":                                fmt.Sprintf("%064x", i),
				"kubectl.kubernetes.io/default-container":        "main",
				"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
				"example.com/description":                        fmt.Sprintf("%01200d", i),
			},
		},
		Spec: corev1.PodSpec{
			NodeName:   NodeName(i / gpuEvery % nodes),
			Containers: []corev1.Container{container("main", i, PodGPUs(i)), container("sidecar", i, 0)},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: "workload"},
				}}},
				{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
			Tolerations: []corev1.Toleration{{Key: GPUResource, Operator: corev1.TolerationOpExists}},
		},
	}
	return p
}

func container(name string, i int, gpus int64) corev1.Container {
	requests := corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("1Gi")}
	limits := corev1.ResourceList{"memory": resource.MustParse("2Gi")}
	if gpus > 0 {
		requests[GPUResource] = *resource.NewQuantity(gpus, resource.DecimalSI)
		limits[GPUResource] = requests[GPUResource]
	}
	probe := &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}},
		PeriodSeconds: 10, TimeoutSeconds: 5,
	}
	c := corev1.Container{
		Name: name, Image: fmt.Sprintf("registry.example.com/team/%s@sha256:%064x", name, i),
		Args:      []string{"--config=/etc/workload/config.yaml", fmt.Sprintf("--shard=%d", i), "--log-level=info"},
		Ports:     []corev1.ContainerPort{{Name: "http-" + name, ContainerPort: 8080}},
		Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: "/etc/workload"}, {Name: "data", MountPath: "/var/lib/workload"},
		},
		LivenessProbe: probe, ReadinessProbe: probe.DeepCopy(),
	}
	for n := range 20 {
		c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%02d", n), Value: fmt.Sprintf("value-%d-of-%d", n, i)})
	}
	return c
}
