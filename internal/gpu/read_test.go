package gpu

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// fields are some of a row's fields in words: unknown where the row has none.
type fields map[string]string

// readFields reads a Node and keeps the fields that are asked for.
func readFields(n *corev1.Node, devices *dra.Devices, opts Options, asked fields) fields {
	reading, ok := readNode(n, devices, opts)
	all := answersOf(reading.Row, ok, "")
	got := fields{}
	for k := range asked {
		got[k] = all[k]
	}
	return got
}

func TestReadNVIDIA(t *testing.T) {
	cases := map[string]struct {
		node *corev1.Node
		want fields
	}{
		"labels and resource agree": {
			node(h100s),
			fields{"product": "NVIDIA-H100-80GB-HBM3", "physicalGpus": "8", "memoryMiB": "81559", "workloadMode": "container", "ready": "true", "reason": "OK", "warning": "none"},
		},
		"time-slicing multiplies units, not GPUs": {
			node(labels("gpu.product=Tesla-T4-SHARED", "gpu.count=4", "gpu.replicas=4", "gpu.sharing-strategy=time-slicing"), offers("gpu", "16", "16")),
			fields{"product": "Tesla-T4", "variant": "SHARED", "physicalGpus": "4", "sharing": "time-slicing", "warning": "none"},
		},
		"a renamed resource leaves a 0 behind": {
			node(labels("gpu.product=Tesla-T4", "gpu.count=4", "gpu.replicas=4", "gpu.sharing-strategy=time-slicing"), offers("gpu", "0", "0"), offers("gpu.shared", "16", "16")),
			fields{"variant": "SHARED", "physicalGpus": "4", "ready": "true", "allocatableUnits": "nvidia.com/gpu.shared:16"},
		},
		"a single MIG profile hides the number of GPUs": {
			node(labels("gpu.product=A100-SXM4-40GB-MIG-1g.5gb", "gpu.count=56", "gpu.memory=4864", "mig.strategy=single"), offers("gpu", "56", "56")),
			fields{"product": "A100-SXM4-40GB", "variant": "MIG-1g.5gb", "physicalGpus": "unknown", "memoryMiB": "unknown", "memoryPerUnitMiB": "4864", "sharing": "mig"},
		},
		"the machine type counts GPUs where MIG hides them": {
			node(labels("gpu.product=A100-SXM4-40GB-MIG-1g.5gb", "gpu.count=56", "mig.strategy=single", "karpenter.k8s.aws/instance-gpu-name=a100", "karpenter.k8s.aws/instance-gpu-manufacturer=nvidia", "karpenter.k8s.aws/instance-gpu-count=8"), offers("gpu", "56", "56")),
			fields{"product": "A100-SXM4-40GB", "physicalGpus": "8", "vendor": "nvidia"},
		},
		"without the product a single strategy leaves the units unclear": {
			node(labels("gpu.count=7", "gpu.memory=9984", "mig.strategy=single"), offers("gpu", "7", "7")),
			fields{"physicalGpus": "unknown", "memoryMiB": "unknown", "ready": "true"},
		},
		"mixed MIG profiles on every GPU are healthy without nvidia.com/gpu": {
			node(labels("gpu.product=NVIDIA-H100-80GB-HBM3", "gpu.count=8", "gpu.replicas=0", "gpu.sharing-strategy=none", "mig.strategy=mixed", "mig-1g.10gb.count=16", "mig-2g.20gb.count=8", "mig-3g.40gb.count=8"),
				offers("mig-1g.10gb", "16", "16"), offers("mig-2g.20gb", "8", "8"), offers("mig-3g.40gb", "8", "8")),
			fields{"variant": "MIG-mixed", "physicalGpus": "8", "sharing": "mig", "ready": "true", "warning": "none"},
		},
		"MIG on without instances": {
			node(labels("gpu.product=NVIDIA-H100-80GB-HBM3", "gpu.count=8", "gpu.replicas=0", "mig.strategy=mixed"), offers("gpu", "0", "0")),
			fields{"physicalGpus": "8", "sharing": "mig", "ready": "false", "reason": "MIGEnabledNoInstances"},
		},
		"MIG-INVALID is a GPU node with placeholders": {
			node(labels("gpu.product=A100-SXM4-40GB-MIG-INVALID", "gpu.count=0", "gpu.memory=0", "gpu.replicas=0", "gpu.sharing-strategy=", "mig.strategy=single")),
			fields{"product": "A100-SXM4-40GB", "variant": "MIG-INVALID", "physicalGpus": "unknown", "reason": "MIGInvalid", "warning": "none"},
		},
		"audio functions of passthrough cards are no GPUs": {
			node(labels("gpu.present=true", "gpu.workload.config=vm-passthrough"), offers("GA102GL_RTX_A6000", "2", "2"), offers("GA102_HIGH_DEFINITION_AUDIO_CONTROLLER", "2", "2")),
			fields{"product": "GA102GL_RTX_A6000", "physicalGpus": "2", "allocatableUnits": "nvidia.com/GA102GL_RTX_A6000:2", "workloadMode": "vm-passthrough", "sharing": "none"},
		},
		"stale container labels do not double a passthrough node": {
			node(labels("gpu.product=NVIDIA-A10", "gpu.count=2", "gpu.deploy.vfio-manager=true"), offers("gpu", "0", "0"), offers("GA102GL_A10", "2", "2")),
			fields{"product": "GA102GL_A10", "physicalGpus": "2", "workloadMode": "vm-passthrough"},
		},
		"the number of cards behind vGPUs is unknown": {
			node(labels("gpu.deploy.vgpu-manager=true"), offers("NVIDIA_A10-12Q", "4", "4"), offers("NVIDIA_A10-4Q", "6", "6")),
			fields{"product": "NVIDIA_A10", "variant": "vGPU-mixed", "physicalGpus": "unknown", "sharing": "vgpu", "workloadMode": "vm-vgpu"},
		},
		"a vGPU inside a virtual machine is no physical GPU": {
			node(labels("gpu.product=NVIDIA-A10-12Q", "gpu.count=1", "gpu.memory=12288", "vgpu.present=true", "vgpu.host-driver-version=460.16"), offers("gpu", "1", "1")),
			fields{"product": "NVIDIA-A10", "variant": "vGPU-12Q", "physicalGpus": "unknown", "memoryMiB": "unknown", "memoryPerUnitMiB": "12288", "sharing": "vgpu", "workloadMode": "container", "ready": "true"},
		},
		"one of eight units is unhealthy": {
			node(h100s, offers("gpu", "8", "7")),
			fields{"physicalGpus": "8", "ready": "true", "warning": "SomeGpusUnhealthy"},
		},
		"the plugin is gone": {
			node(offers("gpu", "8", "0")),
			fields{"physicalGpus": "8", "ready": "false", "reason": "NoAllocatableGpu"},
		},
		"the plugin is gone for minutes": {
			node(offers("gpu", "0", "0")),
			fields{"isGpuNode": "true", "physicalGpus": "unknown", "ready": "false", "reason": "NoAllocatableGpu"},
		},
		"frozen figures of a silent kubelet are not usable": {
			node(h100s, condition(corev1.NodeReady, corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status.")),
			fields{"ready": "false", "reason": "NodeStatusUnknown", "physicalGpus": "8"},
		},
		"only an intention is left": {
			node(labels("gpu.present=false", "gpu.workload.config=container")),
			fields{"isGpuNode": "true", "physicalGpus": "unknown", "ready": "false"},
		},
		"a 3D controller on the bus": {
			node(labels("feature.node.kubernetes.io/pci-0302_10de.present=true")),
			fields{"isGpuNode": "true", "physicalGpus": "unknown", "reason": "DevicePluginNotRegistered"},
		},
		"PCI labels with device IDs": {
			node(labels("feature.node.kubernetes.io/pci-0300_10de_2684.present=true")),
			fields{"isGpuNode": "true", "vendor": "nvidia"},
		},
		"two products flip between labels, so neither is told": {
			node(labels("gpu.product=NVIDIA-GeForce-RTX-3090", "gpu.count=1", "gpu.memory=24576"), offers("gpu", "3", "3")),
			fields{"product": "unknown", "physicalGpus": "3", "memoryMiB": "unknown", "warning": "CountMismatch,MixedProducts"},
		},
		"GKE partitions with a count": {
			node(labels("cloud.google.com/gke-accelerator=nvidia-tesla-a100", "cloud.google.com/gke-accelerator-count=1", "cloud.google.com/gke-gpu-partition-size=1g.5gb"), offers("gpu", "7", "7")),
			fields{"physicalGpus": "1", "variant": "MIG-1g.5gb", "sharing": "mig"},
		},
		"a change of the MIG layout is not a broken plugin": {
			node(labels("gpu.product=NVIDIA-A100-MIG-1g.5gb", "mig.config.state=rebooting", "gpu.deploy.device-plugin=paused-for-mig-change"), offers("gpu", "7", "0")),
			fields{"ready": "false", "reason": "MIGReconfiguring"},
		},
		"the MIG manager reboots the node while units are still offered": {
			node(h100s, labels("mig.config.state=rebooting")),
			fields{"ready": "false", "reason": "MIGReconfiguring"},
		},
		"the labels of a layout that failed describe what works": {
			node(h100s, labels("mig.config.state=failed")),
			fields{"ready": "true", "warning": "MIGConfigFailed"},
		},
		"MIG-INVALID beside units that are offered is old": {
			node(labels("gpu.product=NVIDIA-A100-MIG-INVALID"), offers("gpu", "8", "8")),
			fields{"ready": "true", "warning": "LabelConflict"},
		},
		"a count of 0 beside GPUs is no number": {
			node(labels("gpu.product=NVIDIA-A100", "gpu.count=0"), offers("gpu", "8", "8")),
			fields{"physicalGpus": "8", "warning": "LabelConflict"},
		},
		"a suffix and a strategy that contradict each other": {
			node(labels("gpu.product=Tesla-T4-SHARED", "gpu.count=1", "gpu.replicas=4", "gpu.sharing-strategy=none"), offers("gpu", "4", "4")),
			fields{"variant": "SHARED", "sharing": "time-slicing", "physicalGpus": "1", "warning": "LabelConflict"},
		},
		"MPS": {
			node(labels("gpu.product=Tesla-T4-SHARED", "gpu.count=1", "gpu.replicas=4", "gpu.sharing-strategy=mps"), offers("gpu", "4", "4")),
			fields{"variant": "SHARED", "sharing": "mps", "physicalGpus": "1"},
		},
		"replicas divide the units where the count is not readable": {
			node(labels("gpu.product=Tesla-T4-SHARED", "gpu.count=four", "gpu.replicas=4", "gpu.sharing-strategy=time-slicing"), offers("gpu", "16", "16")),
			fields{"physicalGpus": "4", "warning": "InvalidLabel"},
		},
		"units that replicas do not divide": {
			node(labels("gpu.product=Tesla-T4-SHARED", "gpu.count=four", "gpu.replicas=4", "gpu.sharing-strategy=time-slicing"), offers("gpu", "15", "15")),
			fields{"physicalGpus": "unknown"},
		},
		"the machine type has more than was found": {
			node(h100s, offers("gpu", "7", "7"), labels("gpu.count=7", "eks.amazonaws.com/instance-gpu-name=h100", "eks.amazonaws.com/instance-gpu-manufacturer=nvidia", "eks.amazonaws.com/instance-gpu-count=8")),
			fields{"physicalGpus": "7", "ready": "true", "warning": "GpuMissing"},
		},
		"a fraction of a GPU is not 0 GPUs": {
			node(labels("karpenter.k8s.aws/instance-gpu-name=l4", "karpenter.k8s.aws/instance-gpu-manufacturer=nvidia", "karpenter.k8s.aws/instance-gpu-count=0")),
			fields{"isGpuNode": "true", "product": "l4", "physicalGpus": "unknown"},
		},
		"missing GPUs are the fault when none is left": {
			node(labels("gpu.product=NVIDIA-A100", "gpu.count=8"), offers("gpu", "0", "0"), condition("GPUMissing", corev1.ConditionTrue, "GPUMissing", "expected 8 GPUs, found 0")),
			fields{"ready": "false", "reason": "GpuHealthCondition", "warning": "GpuMissing"},
		},
		"containers and virtual machines share the node": {
			node(labels("gpu.product=NVIDIA-A10", "gpu.count=1", "gpu.workload.config=container"), offers("gpu", "1", "1"), offers("GA102GL_A10", "2", "2")),
			fields{"product": "GA102GL_A10,NVIDIA-A10", "physicalGpus": "3", "warning": "WorkloadModeMismatch"},
		},
		"a passthrough node takes any free name that is no network card": {
			node(labels("gpu.workload.config=vm-passthrough"), offers("a10", "2", "2"), offers("mlnxnics", "8", "8")),
			fields{"product": "a10", "physicalGpus": "2", "allocatableUnits": "nvidia.com/a10:2"},
		},
		"a queued driver upgrade changes nothing yet": {
			node(h100s, labels("gpu-driver-upgrade-state=upgrade-required")),
			fields{"ready": "true", "warning": "DriverUpgradePending"},
		},
		"a driver upgrade under way": {
			node(h100s, labels("gpu-driver-upgrade-state=drain-required")),
			fields{"ready": "false", "reason": "DriverUpgrading"},
		},
		"operands paused for a driver upgrade": {
			node(h100s, labels("gpu.deploy.device-plugin=true_paused-for-driver-upgrade")),
			fields{"ready": "false", "reason": "DriverUpgrading"},
		},
		"a failed driver upgrade waits for a person": {
			node(h100s, labels("gpu-driver-upgrade-state=upgrade-failed")),
			fields{"ready": "false", "reason": "DriverUpgradeFailed"},
		},
		"a pending vGPU layout": {
			node(labels("gpu.workload.config=vm-vgpu", "vgpu.config.state=pending"), offers("NVIDIA_A10-12Q", "4", "4")),
			fields{"ready": "false", "reason": "VgpuReconfiguring"},
		},
		"operands switched off": {
			node(labels("feature.node.kubernetes.io/pci-10de.present=true", "gpu.deploy.operands=false")),
			fields{"ready": "false", "reason": "OperandsDisabled"},
		},
		"the accelerated hardware condition is bad when False": {
			node(h100s, condition("AcceleratedHardwareReady", corev1.ConditionFalse, "NvidiaXID79Error", "GPU fell off the bus")),
			fields{"ready": "false", "reason": "GpuHealthCondition"},
		},
		"a problem condition is good when False": {
			node(h100s, condition("GPUMissing", corev1.ConditionFalse, "NoGPUMissing", ""), condition("UnhealthyNvidiaDevicePlugin", corev1.ConditionFalse, "HealthyNvidiaDevicePlugin", "")),
			fields{"ready": "true", "warning": "none"},
		},
		"an unknown health condition is neither": {
			node(h100s, condition("XidCriticalError", corev1.ConditionUnknown, "", ""), condition("AcceleratedHardwareReady", corev1.ConditionUnknown, "", "")),
			fields{"ready": "true"},
		},
		"a learned figure says that one is missing": {
			node(h100s, labels("gpu.count=7", "nvsentinel.dgxc.nvidia.com/gpu.count.expected=8"), offers("gpu", "7", "7")),
			fields{"ready": "true", "physicalGpus": "7", "warning": "GpuMissing"},
		},
		"deleting comes before everything": {
			node(h100s, func(n *corev1.Node) { n.DeletionTimestamp = &transition }, condition(corev1.NodeReady, corev1.ConditionFalse, "x", "y")),
			fields{"ready": "false", "reason": "NodeDeleting", "schedulable": "false"},
		},
		"of two Ready conditions the worse is believed": {
			node(h100s, func(n *corev1.Node) {
				n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "R"})
			}),
			fields{"ready": "false", "reason": "NodeNotReady"},
		},
		"GPUs without a driver beside integrated graphics that work": {
			node(labels("feature.node.kubernetes.io/pci-0302_10de.present=true"), offers("gpu.intel.com/i915", "1", "1")),
			fields{"ready": "true", "physicalGpus": "unknown", "warning": "SomeGpusUnhealthy"},
		},
		"another status of Ready is not ready": {
			node(h100s, condition(corev1.NodeReady, "Maybe", "", "")),
			fields{"ready": "false", "reason": "NodeNotReady"},
		},
		"pressure is told and changes nothing": {
			node(h100s, condition(corev1.NodeDiskPressure, corev1.ConditionTrue, "", ""), condition(corev1.NodeMemoryPressure, corev1.ConditionTrue, "", "")),
			fields{"ready": "true", "warning": "DiskPressure,MemoryPressure"},
		},
		"cards of a plugin that shares by memory": {
			node(offers("aliyun.com/gpu-count", "2", "2"), offers("aliyun.com/gpu-mem", "44", "44")),
			fields{"vendor": "nvidia", "physicalGpus": "2", "sharing": "other", "allocatableUnits": "aliyun.com/gpu-count:2"},
		},
		"memory units count where nothing else does": {
			node(offers("aliyun.com/gpu-mem", "44", "44")),
			fields{"physicalGpus": "unknown", "sharing": "other", "ready": "true", "allocatableUnits": "aliyun.com/gpu-mem:44"},
		},
		"an unbelievable capacity is no number of GPUs": {
			node(offers("gpu", "9223372036854775807", "9223372036854775807")),
			fields{"physicalGpus": "unknown", "ready": "true", "warning": "InvalidLabel"},
		},
		"an astronomic capacity is bounded at once": {
			node(offers("gpu", "1e999999999", "1e999999999")),
			fields{"physicalGpus": "unknown", "ready": "true", "warning": "InvalidLabel"},
		},
		"a negative quantity is nothing": {
			node(offers("gpu", "-8", "-8")),
			fields{"physicalGpus": "unknown", "ready": "false", "allocatableUnits": "none", "warning": "InvalidLabel"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, readFields(tc.node, nil, Options{}, tc.want)); diff != "" {
				t.Errorf("Read() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadIgnoresBadLabelValuesOneByOne(t *testing.T) {
	for _, bad := range []string{"", "-1", "8.0", "9e9", "9223372036854775808", "NaN", "0x8", "8 ", "+8", "八", "1025"} {
		t.Run(bad, func(t *testing.T) {
			got := readFields(node(h100s, labels("gpu.count="+bad)), nil, Options{}, fields{"physicalGpus": "", "memoryMiB": "", "warning": ""})
			want := fields{"physicalGpus": "8", "memoryMiB": "81559", "warning": "InvalidLabel"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("count (-want +got):\n%s", diff)
			}
		})
	}
	for _, bad := range []string{"", "-1", "80GB", "9223372036854775808", "NaN"} {
		t.Run("memory "+bad, func(t *testing.T) {
			got := readFields(node(h100s, labels("gpu.memory="+bad)), nil, Options{}, fields{"physicalGpus": "", "memoryMiB": "", "warning": ""})
			want := fields{"physicalGpus": "8", "memoryMiB": "unknown", "warning": "InvalidLabel"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("memory (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadOtherVendors(t *testing.T) {
	const mi300x = "AMD_Instinct_MI300X_OAM"
	cases := map[string]struct {
		node *corev1.Node
		want fields
	}{
		"AMD counts in a key": {
			node(labels("beta.amd.com/gpu.product-name."+mi300x+"=8", "amd.com/gpu.vram=192G"), offers("amd.com/gpu", "8", "8")),
			fields{"vendor": "amd", "product": mi300x, "physicalGpus": "8", "memoryMiB": "196608"},
		},
		"AMD counts stay when the plugin is gone": {
			node(labels("beta.amd.com/gpu.product-name." + mi300x + "=8")),
			fields{"physicalGpus": "8", "ready": "false", "reason": "DevicePluginNotRegistered"},
		},
		"old AMD counters beside the plain product are left over": {
			node(labels("amd.com/gpu.product-name="+mi300x, "beta.amd.com/gpu.product-name."+mi300x+"=8", "beta.amd.com/gpu.product-name.Old_Card=4"), offers("amd.com/gpu", "8", "8")),
			fields{"product": mi300x, "physicalGpus": "8", "warning": "none"},
		},
		"AMD counters that exceed the units cannot be told apart": {
			node(labels("amd.com/gpu.product-name.A=8", "amd.com/gpu.product-name.B=8"), offers("amd.com/gpu", "8", "8")),
			fields{"product": "unknown", "physicalGpus": "8", "warning": "CountMismatch,MixedProducts"},
		},
		"AMD partitions are no cards": {
			node(labels("amd.com/gpu.product-name="+mi300x, "amd.com/gpu.vram=24G"), offers("amd.com/cpx_nps4", "64", "64")),
			fields{"variant": "cpx_nps4", "physicalGpus": "unknown", "sharing": "partition", "memoryPerUnitMiB": "24576", "memoryMiB": "unknown"},
		},
		"AMD cards in the style spx are whole": {
			node(labels("amd.com/gpu.compute-memory-partition=spx_nps1"), offers("amd.com/spx_nps1", "8", "8")),
			fields{"variant": "none", "physicalGpus": "8", "sharing": "none"},
		},
		"an AMD vram without unit is not guessed": {
			node(labels("amd.com/gpu.product-name="+mi300x, "amd.com/gpu.vram=192"), offers("amd.com/gpu", "8", "8")),
			fields{"memoryMiB": "unknown", "warning": "InvalidLabel"},
		},
		"Intel GPUs shared by ten": {
			node(labels("gpu.intel.com/device-id.0380-56c0.count=1"), offers("gpu.intel.com/i915", "10", "10")),
			fields{"vendor": "intel", "physicalGpus": "1", "sharing": "other"},
		},
		"monitoring is access, not a GPU": {
			node(offers("gpu.intel.com/monitoring", "1", "1")),
			fields{"isGpuNode": "false"},
		},
		"integrated graphics on the bus are not enough": {
			node(labels("feature.node.kubernetes.io/pci-0300_8086.present=true", "feature.node.kubernetes.io/pci-0300_1002.present=true")),
			fields{"isGpuNode": "false"},
		},
		"an Intel display controller is": {
			node(labels("feature.node.kubernetes.io/pci-0380_8086.present=true")),
			fields{"isGpuNode": "true", "vendor": "intel", "physicalGpus": "unknown"},
		},
		"integrated AMD graphics beside a GPU do not hide its count": {
			node(h100s, labels("feature.node.kubernetes.io/pci-0380_1002.present=true")),
			fields{"vendor": "nvidia", "physicalGpus": "8"},
		},
		"HAMi lists cards, one of them without health": {
			node(annotation(annotationHAMi, `[{"id":"GPU-a","count":10,"devmem":81559,"devcore":100,"type":"NVIDIA-NVIDIA H100","health":true},{"id":"GPU-b","count":10,"devmem":81559,"devcore":100,"type":"NVIDIA-NVIDIA H100"}]`), offers("gpu", "20", "20")),
			fields{"product": "NVIDIA H100", "physicalGpus": "2", "memoryMiB": "81559", "sharing": "other", "ready": "true", "warning": "SomeGpusUnhealthy"},
		},
		"HAMi's cores above 100 give away that memory is scaled": {
			node(annotation(annotationHAMi, "GPU-a,10,258787,500,NVIDIA-NVIDIA H20,0,true:"), offers("gpu", "10", "10")),
			fields{"physicalGpus": "1", "memoryMiB": "unknown"},
		},
		"HAMi lists the cards of another maker": {
			node(annotation("hami.io/node-dcu-register", "DCU-0,4,65536,100,DCU,0,true:DCU-1,4,65536,100,DCU,0,true:"), offers("hygon.com/dcunum", "8", "8")),
			fields{"vendor": "unknown", "physicalGpus": "2", "sharing": "other", "ready": "true"},
		},
		"the AMD operator upgrades the driver": {
			node(offers("amd.com/gpu", "8", "8"), labels("operator.amd.com/gpu-driver-upgrade-state=Upgrade-In-Progress")),
			fields{"ready": "false", "reason": "DriverUpgrading"},
		},
		"the AMD operator failed to": {
			node(offers("amd.com/gpu", "8", "8"), labels("operator.amd.com/gpu-driver-upgrade-state=Upgrade-Failed")),
			fields{"ready": "false", "reason": "DriverUpgradeFailed"},
		},
		"the AMD operator is done": {
			node(offers("amd.com/gpu", "8", "8"), labels("operator.amd.com/gpu-driver-upgrade-state=Upgrade-Complete")),
			fields{"ready": "true"},
		},
		"an AMD machine type": {
			node(labels("karpenter.azure.com/sku-gpu-name=mi300x", "karpenter.azure.com/sku-gpu-manufacturer=amd", "karpenter.azure.com/sku-gpu-count=8")),
			fields{"vendor": "amd", "product": "mi300x", "physicalGpus": "8", "ready": "false"},
		},
		"a Habana machine type": {
			node(labels("karpenter.k8s.aws/instance-gpu-name=gaudi", "karpenter.k8s.aws/instance-gpu-manufacturer=habana", "karpenter.k8s.aws/instance-gpu-count=8", "karpenter.k8s.aws/instance-gpu-memory=32768"), offers("habana.ai/gaudi", "0", "0")),
			fields{"vendor": "habana", "product": "gaudi", "physicalGpus": "8", "memoryMiB": "32768", "ready": "false"},
		},
		"HAMi lists two models": {
			node(annotation(annotationHAMi, "GPU-a,10,40960,100,NVIDIA-A,0,true:GPU-b,10,16384,100,NVIDIA-B,0,true:GPU-c,10,16384,100,NVIDIA-B,0,true:"), offers("gpu", "30", "30")),
			fields{"product": "A,B", "physicalGpus": "3", "memoryMiB": "16384,40960"},
		},
		"a HAMi annotation that is no list": {
			node(annotation(annotationHAMi, "[{]"), offers("gpu", "20", "20")),
			fields{"physicalGpus": "unknown", "sharing": "other", "warning": "InvalidLabel"},
		},
		"Ascend names the model": {
			node(offers("huawei.com/Ascend910B3", "8", "8"), offers("huawei.com/Ascend910B3-memory", "524288", "524288")),
			fields{"vendor": "unknown", "product": "Ascend910B3", "physicalGpus": "8", "allocatableUnits": "huawei.com/Ascend910B3:8"},
		},
		"shares of another maker": {
			node(offers("hygon.com/dcu", "0", "0"), offers("hygon.com/dcunum", "40", "40")),
			fields{"vendor": "unknown", "physicalGpus": "unknown", "sharing": "other", "ready": "true"},
		},
		"TPU labels and resources are no GPUs": {
			node(labels("cloud.google.com/gke-tpu-accelerator=tpu-v5", "cloud.google.com/gke-accelerator-count=4"), offers("google.com/tpu", "4", "4")),
			fields{"isGpuNode": "false"},
		},
		"a CPU node with empty and zero labels": {
			node(labels("gfd.timestamp=1726000000", "vgpu.present=false", "mps.capable=false", "gpu.present=false", "karpenter.azure.com/sku-gpu-count=0")),
			fields{"isGpuNode": "false"},
		},
		"a provisioner without maker speaks of the GPUs that were found": {
			node(labels("karpenter.k8s.aws/instance-gpu-name=a10g", "karpenter.k8s.aws/instance-gpu-count=1"), offers("gpu.shared", "4", "4")),
			fields{"vendor": "nvidia", "product": "a10g", "physicalGpus": "1"},
		},
		"only the provisioner speaks": {
			node(labels("karpenter.k8s.aws/instance-gpu-name=h100", "karpenter.k8s.aws/instance-gpu-manufacturer=nvidia", "karpenter.k8s.aws/instance-gpu-count=8", "karpenter.k8s.aws/instance-gpu-memory=81920")),
			fields{"product": "h100", "physicalGpus": "8", "memoryMiB": "81920", "ready": "false"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, readFields(tc.node, nil, Options{}, tc.want)); diff != "" {
				t.Errorf("Read() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadExtraResources(t *testing.T) {
	opts := Options{ExtraResources: []string{"example.com/gpu-*", "-example.com/gpu-memory"}}
	n := node(offers("example.com/gpu-x", "2", "2"), offers("example.com/gpu-memory", "100", "100"))
	want := fields{"vendor": "unknown", "physicalGpus": "2", "ready": "true", "allocatableUnits": "example.com/gpu-x:2"}
	if diff := cmp.Diff(want, readFields(n, nil, opts, want)); diff != "" {
		t.Errorf("Read() with options (-want +got):\n%s", diff)
	}
	if _, ok := readNode(n, nil, Options{}); ok {
		t.Error("Read() without options took an unknown resource for a GPU")
	}
	if _, ok := readNode(node(h100s, labels("gpu.product=", "gpu.count=0", "gpu.memory=0")), nil, Options{ExtraResources: []string{"-nvidia.com/*"}}); ok {
		t.Error("Read() took an excluded resource for a GPU")
	}
}

func TestReadWithoutNode(t *testing.T) {
	if _, ok := Read(nil, nil, Options{}); ok {
		t.Error("Read() of nothing found GPUs")
	}
}

func TestReadMessages(t *testing.T) {
	long := strings.Repeat("é", 2000)
	cases := map[string]struct {
		node *corev1.Node
		want string
	}{
		"a silent kubelet on a passthrough node": {
			node(labels("gpu.workload.config=vm-passthrough"), condition(corev1.NodeReady, corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status.")),
			"kubelet stopped posting node status since 2026-07-10T15:02:11Z; GPU feature discovery does not run on vm-passthrough nodes, so missing labels are expected there",
		},
		"the node's own words, without times that pass": {
			node(h100s, condition(corev1.NodeReady, corev1.ConditionFalse, "KubeletNotReady", "PLEG is not healthy: pleg was last seen active 3m12.5s ago; threshold is 3m0s.")),
			"KubeletNotReady: PLEG is not healthy: pleg was last seen active some time ago; threshold is 3m0s since 2026-07-10T15:02:11Z",
		},
		"a network that is not ready": {
			node(h100s, condition(corev1.NodeReady, corev1.ConditionFalse, "KubeletNotReady", "container runtime network not ready: NetworkReady=false")),
			"KubeletNotReady: container runtime network not ready: NetworkReady=false since 2026-07-10T15:02:11Z",
		},
		"the XID of a fault": {
			node(h100s, condition("AcceleratedHardwareReady", corev1.ConditionFalse, "NvidiaXID79Error", "GPU fell off the bus")),
			"AcceleratedHardwareReady=False: NvidiaXID79Error: GPU fell off the bus, XID 79 since 2026-07-10T15:02:11Z",
		},
		"no time without a transition": {
			node(h100s, func(n *corev1.Node) {
				n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
			}),
			"Ready is Unknown",
		},
		"a long message keeps its time": {
			node(h100s, condition(corev1.NodeReady, corev1.ConditionFalse, "R", long)),
			"R: " + strings.Repeat("é", 254) + " since 2026-07-10T15:02:11Z",
		},
		"hostile characters become blanks": {
			node(h100s, condition(corev1.NodeReady, corev1.ConditionFalse, "R", "a\nb\x1b[31mc\xff\u202ed")),
			"R: a b [31mc\ufffd d since 2026-07-10T15:02:11Z",
		},
		"what a ready node lacks": {
			node(h100s, offers("gpu", "8", "7")),
			"nvidia.com/gpu: 7 of 8 units allocatable",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reading, _ := readNode(tc.node, nil, Options{})
			if diff := cmp.Diff(tc.want, reading.Row.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEvidenceSaysWhatWon(t *testing.T) {
	reading, _ := readNode(node(h100s, labels("gpu.count=5")), nil, Options{})
	decides := map[string][]string{}
	for _, e := range reading.Evidence {
		decides[string(e.Kind)+" "+e.Key] = e.Decides
		if e.Says == "" {
			t.Errorf("%s %s does not say what it means", e.Kind, e.Key)
		}
	}
	want := map[string][]string{
		"label nvidia.com/gpu.product": nil,
		"label nvidia.com/gpu.count":   {"warnings"},
		"resource nvidia.com/gpu":      {"count", "resources", "warnings"},
		"condition Ready":              {"ready"},
	}
	for key, w := range want {
		if diff := cmp.Diff(w, decides[key]); diff != "" {
			t.Errorf("%s decides (-want +got):\n%s", key, diff)
		}
	}
}

func TestReadBoundsItsOutput(t *testing.T) {
	n := node()
	for i := range 400 {
		offers("nvidia.com/CARD_"+strings.Repeat("X", i%7)+string(rune('A'+i%26))+strings.Repeat("Y", i/26), "1", "1")(n)
	}
	condition(corev1.NodeReady, corev1.ConditionFalse, strings.Repeat("r", 5000), strings.Repeat("m", 50000))(n)
	reading, _ := readNode(n, nil, Options{})
	row := reading.Row
	if len(row.Gpus) > maxGroups || len(row.Resources) > maxResources || len(row.Message) > maxText {
		t.Errorf("%d groups, %d resources, %d bytes of message", len(row.Gpus), len(row.Resources), len(row.Message))
	}
	if row.GpuCount == nil || *row.GpuCount != 400 {
		t.Errorf("gpuCount = %v, want 400: totals cover what the lists leave out", row.GpuCount)
	}
}
