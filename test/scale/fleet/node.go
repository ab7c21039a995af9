// Package fleet makes up Nodes and Pods as large as real ones, for measurements. Equal arguments give equal objects.
//
// A Node has about what a GPU node of a managed cluster has with node and GPU feature discovery: 90 labels, 13 annotations,
// 50 images, 8 conditions, 22 kB of JSON with the managedFields that the API server adds. A Pod has two containers with
// probes, mounts and variables: 7 kB.
package fleet

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GPUResource is the resource of which each Node has GPUsPerNode, and each GPU pod some.
const GPUResource = "nvidia.com/gpu"

// GPUsPerNode is how many GPUs each Node has.
const GPUsPerNode = 8

var (
	started  = metav1.NewTime(time.Date(2026, 7, 10, 15, 2, 11, 0, time.UTC))
	products = []string{"NVIDIA-H100-80GB-HBM3", "NVIDIA-H200", "NVIDIA-A100-SXM4-80GB", "NVIDIA-L40S"}
)

// NodeName is the name of the i-th Node.
func NodeName(i int) string { return fmt.Sprintf("gpu-%05d.eu-central-1.compute.internal", i) }

// Node is the i-th Node: Ready, with 8 GPUs of one of four products.
func Node(i int) *corev1.Node {
	capacity := resources("192", "2113393620Ki", "1932735283200", "110")
	allocatable := resources("191450m", "2094393620Ki", "1781208836915", "110")
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: NodeName(i), Labels: nodeLabels(i), Annotations: nodeAnnotations(i)},
		Spec: corev1.NodeSpec{
			PodCIDR:    fmt.Sprintf("10.%d.%d.0/24", i/256%256, i%256),
			ProviderID: fmt.Sprintf("aws:///eu-central-1a/i-%017x", i),
			Taints:     []corev1.Taint{{Key: GPUResource, Value: "present", Effect: corev1.TaintEffectNoSchedule}},
		},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: allocatable, Conditions: conditions(),
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.%d.%d", i/256%256, i%256)},
				{Type: corev1.NodeHostName, Address: NodeName(i)},
			},
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: fmt.Sprintf("ec2%029x", i), SystemUUID: fmt.Sprintf("ec2a%028x", i), BootID: fmt.Sprintf("%032x", i),
				KernelVersion: "6.8.0-1031-aws", OSImage: "Ubuntu 24.04.3 LTS", ContainerRuntimeVersion: "containerd://2.1.4",
				KubeletVersion: "v1.37.2", OperatingSystem: "linux", Architecture: "amd64",
			},
			Images: images(i),
		},
	}
	return n
}

func resources(cpu, memory, disk, pods string) corev1.ResourceList {
	return corev1.ResourceList{
		"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory), "ephemeral-storage": resource.MustParse(disk),
		"pods": resource.MustParse(pods), "hugepages-1Gi": resource.MustParse("0"), "hugepages-2Mi": resource.MustParse("0"),
		GPUResource: *resource.NewQuantity(GPUsPerNode, resource.DecimalSI),
	}
}

func nodeLabels(i int) map[string]string {
	product := products[i%len(products)]
	l := map[string]string{
		"kubernetes.io/hostname": NodeName(i), "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
		"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux",
		"topology.kubernetes.io/region": "eu-central-1", "topology.kubernetes.io/zone": fmt.Sprintf("eu-central-1%c", 'a'+rune(i%3)),
		"node.kubernetes.io/instance-type": "p5.48xlarge", "eks.amazonaws.com/nodegroup": fmt.Sprintf("gpu-%d", i%len(products)),
		"eks.amazonaws.com/capacityType":                    "ON_DEMAND",
		"feature.node.kubernetes.io/pci-10de.present":       "true",
		"feature.node.kubernetes.io/pci-10de.sriov.capable": "true",
		"feature.node.kubernetes.io/kernel-version.full":    "6.8.0-1031-aws",
		"feature.node.kubernetes.io/system-os_release.ID":   "ubuntu",
		"nvidia.com/gpu.present":                            "true", "nvidia.com/gpu.product": product, "nvidia.com/gpu.count": "8",
		"nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.memory": "81559", "nvidia.com/gpu.family": "hopper",
		"nvidia.com/gpu.machine": "p5.48xlarge", "nvidia.com/gpu.mode": "compute", "nvidia.com/gpu.sharing-strategy": "none",
		"nvidia.com/gpu.compute.major": "9", "nvidia.com/gpu.compute.minor": "0",
		"nvidia.com/cuda.driver.major": "570", "nvidia.com/cuda.driver.minor": "172", "nvidia.com/cuda.driver.rev": "08",
		"nvidia.com/cuda.runtime.major": "12", "nvidia.com/cuda.runtime.minor": "8",
		"nvidia.com/cuda.driver-version.full": "570.172.08", "nvidia.com/cuda.runtime-version.full": "12.8",
		"nvidia.com/gfd.timestamp": fmt.Sprint(1783695731 + i), "nvidia.com/mig.capable": "true", "nvidia.com/mig.strategy": "single",
		"nvidia.com/mig.config": "all-disabled", "nvidia.com/mig.config.state": "success", "nvidia.com/mps.capable": "false",
		"nvidia.com/gpu.deploy.device-plugin": "true", "nvidia.com/gpu.deploy.driver": "true",
		"nvidia.com/gpu.deploy.container-toolkit": "true", "nvidia.com/gpu.deploy.dcgm-exporter": "true",
		"nvidia.com/gpu.deploy.gpu-feature-discovery": "true", "nvidia.com/gpu.deploy.operator-validator": "true",
	}
	for f := 0; len(l) < 90; f++ {
		l[fmt.Sprintf("feature.node.kubernetes.io/cpu-cpuid.FEATURE%02d", f)] = "true"
	}
	return l
}

func nodeAnnotations(i int) map[string]string {
	a := map[string]string{
		"csi.volume.kubernetes.io/nodeid":                        fmt.Sprintf(`{"ebs.csi.aws.com":"i-%017x"}`, i),
		"node.alpha.kubernetes.io/ttl":                           "300",
		"volumes.kubernetes.io/controller-managed-attach-detach": "true",
		"nvidia.com/gpu-driver-upgrade-enabled":                  "true",
		"nfd.node.kubernetes.io/feature-labels":                  fmt.Sprintf("%01200d", i),
	}
	for n := 0; len(a) < 13; n++ {
		a[fmt.Sprintf("example.com/annotation-%d", n)] = fmt.Sprintf("value %d of node %d", n, i)
	}
	return a
}

func conditions() []corev1.NodeCondition {
	var out []corev1.NodeCondition
	add := func(t corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) {
		out = append(out, corev1.NodeCondition{
			Type: t, Status: status, Reason: reason, Message: message, LastHeartbeatTime: started, LastTransitionTime: started,
		})
	}
	add(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available")
	add(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
	add(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available")
	add("KernelDeadlock", corev1.ConditionFalse, "KernelHasNoDeadlock", "kernel has no deadlock")
	add("ReadonlyFilesystem", corev1.ConditionFalse, "FilesystemIsNotReadOnly", "Filesystem is not read-only")
	add("FrequentKubeletRestart", corev1.ConditionFalse, "NoFrequentKubeletRestart", "kubelet is functioning properly")
	add("FrequentContainerdRestart", corev1.ConditionFalse, "NoFrequentContainerdRestart", "containerd is functioning properly")
	add(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status")
	return out
}

func images(i int) []corev1.ContainerImage {
	out := make([]corev1.ContainerImage, 0, 50)
	for n := range 50 {
		repository := fmt.Sprintf("registry.example.com/team-%d/training-%02d", i%7, n)
		out = append(out, corev1.ContainerImage{
			Names: []string{
				fmt.Sprintf("%s@sha256:%064x", repository, (i%100)*50+n), fmt.Sprintf("%s:v1.%d.%d", repository, n, i%10),
			},
			SizeBytes: int64(1_000_000_000 - n*10_000_000),
		})
	}
	return out
}
