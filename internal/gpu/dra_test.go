package gpu

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

const h100Device = "productName=NVIDIA H100 80GB HBM3"

func gpuDevice(name, uuid, pci string, more ...string) sliceMod {
	return device(name, append([]string{"type=gpu", h100Device, "memory=81559Mi", "uuid=" + uuid, "resource.kubernetes.io/pciBusID=" + pci}, more...)...)
}

func TestReadDevices(t *testing.T) {
	cases := map[string]struct {
		node   *corev1.Node
		slices []resourcev1.ResourceSlice
		want   fields
	}{
		"devices are GPUs": {
			node(), []resourcev1.ResourceSlice{slice("a", gpuDevice("gpu-0", "GPU-a", "0:1"), gpuDevice("gpu-1", "GPU-b", "0:2"))},
			fields{"product": "NVIDIA H100 80GB HBM3", "physicalGpus": "2", "memoryMiB": "81559", "allocatableUnits": "dra:gpu.nvidia.com:2", "sharing": "none", "ready": "true"},
		},
		"attributes qualified with the driver's domain": {
			node(), []resourcev1.ResourceSlice{slice("a", device("gpu-0", "gpu.nvidia.com/type=gpu", "gpu.nvidia.com/productName=Tesla-K80"))},
			fields{"product": "Tesla-K80", "physicalGpus": "1", "ready": "true"},
		},
		"static MIG: one parent that is not published": {
			node(), []resourcev1.ResourceSlice{slice("a",
				device("m-0", "type=mig", h100Device, "parentUUID=GPU-a", "profile=1g.10gb", "memory=9984Mi"),
				device("m-1", "type=mig", h100Device, "parentUUID=GPU-a", "profile=1g.10gb", "memory=9984Mi"))},
			fields{"physicalGpus": "1", "variant": "MIG-1g.10gb", "sharing": "mig", "memoryMiB": "unknown", "memoryPerUnitMiB": "9984", "allocatableUnits": "dra:gpu.nvidia.com:2"},
		},
		"static MIG beside a whole GPU": {
			node(), []resourcev1.ResourceSlice{slice("a",
				device("m-0", "type=mig", h100Device, "parentUUID=GPU-a", "profile=1g.10gb+me", "memory=9984Mi"), gpuDevice("gpu-1", "GPU-b", "0:2"))},
			fields{"physicalGpus": "2", "variant": "MIG-mixed", "sharing": "mig", "memoryMiB": "81559", "allocatableUnits": "dra:gpu.nvidia.com:2"},
		},
		"possible MIG placements beside their GPU are no further units": {
			node(), []resourcev1.ResourceSlice{slice("a", gpuDevice("gpu-0", "GPU-a", "0:1"),
				device("m-0", "type=mig", h100Device, "parentUUID=GPU-a", "profile=1g.10gb"), device("m-1", "type=mig", h100Device, "parentUUID=GPU-a", "profile=2g.20gb"))},
			fields{"physicalGpus": "1", "variant": "none", "sharing": "mig", "allocatableUnits": "dra:gpu.nvidia.com:1"},
		},
		"a card offered twice, with a derived UUID": {
			node(), []resourcev1.ResourceSlice{slice("a", gpuDevice("gpu-0", "GPU-a", "0:1"), device("gpu-vfio-0", "type=vfio", h100Device, "uuid=derived", "resource.kubernetes.io/pciBusID=0:1", "addressableMemory=80Gi"))},
			fields{"physicalGpus": "1", "allocatableUnits": "dra:gpu.nvidia.com:1", "workloadMode": "container"},
		},
		"cards for virtual machines only": {
			node(), []resourcev1.ResourceSlice{slice("a", device("gpu-vfio-0", "type=vfio", h100Device, "resource.kubernetes.io/pciBusID=0:1", "addressableMemory=80Gi"))},
			fields{"physicalGpus": "1", "memoryMiB": "81920", "workloadMode": "vm-passthrough", "ready": "true"},
		},
		"tainted devices cannot be allocated": {
			node(), []resourcev1.ResourceSlice{slice("a", gpuDevice("gpu-0", "GPU-a", "0:1", "taint=gpu.nvidia.com/gpu-lost:NoSchedule"), gpuDevice("gpu-1", "GPU-b", "0:2", "taint=gpu.nvidia.com/unmonitored:None"))},
			fields{"physicalGpus": "2", "allocatableUnits": "dra:gpu.nvidia.com:1", "ready": "true", "warning": "SomeGpusUnhealthy"},
		},
		"no device is left": {
			node(), []resourcev1.ResourceSlice{slice("a", gpuDevice("gpu-0", "GPU-a", "0:1", "taint=gpu.nvidia.com/xid:NoExecute"))},
			fields{"physicalGpus": "1", "allocatableUnits": "none", "ready": "false", "reason": "NoAllocatableGpu"},
		},
		"half of a new generation": {
			node(), []resourcev1.ResourceSlice{slice("old", pool(2, 2), gpuDevice("gpu-0", "GPU-a", "0:1")), slice("new", pool(3, 2), gpuDevice("gpu-0", "GPU-a", "0:1"))},
			fields{"physicalGpus": "unknown", "allocatableUnits": "none", "ready": "false", "reason": "ResourceSlicePoolIncomplete"},
		},
		"labels count while a pool is incomplete, and the device plugin serves": {
			node(h100s), []resourcev1.ResourceSlice{slice("new", pool(3, 2), gpuDevice("gpu-0", "GPU-a", "0:1"))},
			fields{"physicalGpus": "8", "product": "NVIDIA-H100-80GB-HBM3", "allocatableUnits": "nvidia.com/gpu:8", "ready": "true"},
		},
		"a device published twice makes the pool invalid": {
			node(), []resourcev1.ResourceSlice{slice("a", pool(1, 2), gpuDevice("gpu-0", "GPU-a", "0:1")), slice("b", pool(1, 2), gpuDevice("gpu-0", "GPU-b", "0:2"))},
			fields{"physicalGpus": "unknown", "ready": "false", "reason": "ResourceSlicePoolIncomplete"},
		},
		"device plugin and driver serve the same cards": {
			node(h100s), []resourcev1.ResourceSlice{slice("a", gpuDevice("gpu-0", "GPU-a", "0:1"))},
			fields{"physicalGpus": "1", "product": "NVIDIA-H100-80GB-HBM3", "warning": "CountMismatch,OverlappingResources", "ready": "true"},
		},
		"channels of a compute domain are no GPUs": {
			node(), []resourcev1.ResourceSlice{slice("a", driver("compute-domain.nvidia.com"), device("channel-0", "type=channel"))},
			fields{"isGpuNode": "false"},
		},
		"types that no GPU has": {
			node(), []resourcev1.ResourceSlice{slice("a", device("x-0", "type=channel"))},
			fields{"isGpuNode": "false"},
		},
		"virtual functions beside their GPU": {
			node(), []resourcev1.ResourceSlice{slice("a", driver("gpu.intel.com"), device("pf", "type=gpu", "model=Flex 170"), device("vf-0", "type=vf", "model=Flex 170"), device("vf-1", "type=vf", "model=Flex 170"))},
			fields{"vendor": "intel", "physicalGpus": "1", "allocatableUnits": "dra:gpu.intel.com:1"},
		},
		"virtual functions alone are of an unknown number of GPUs": {
			node(), []resourcev1.ResourceSlice{slice("a", driver("gpu.intel.com"), device("vf-0", "type=vf", "model=Flex 170"), device("vf-1", "type=vf", "model=Flex 170"))},
			fields{"vendor": "intel", "physicalGpus": "unknown", "sharing": "vgpu", "allocatableUnits": "dra:gpu.intel.com:2"},
		},
		"an unhealthy accelerator": {
			node(), []resourcev1.ResourceSlice{slice("a", driver("gaudi.intel.com"), device("accel0", "model=Gaudi2", "healthy=false"), device("accel1", "model=Gaudi2", "healthy=true"))},
			fields{"vendor": "habana", "product": "Gaudi2", "physicalGpus": "2", "allocatableUnits": "dra:gaudi.intel.com:1"},
		},
		"AMD partitions while the pool is incomplete, and labels": {
			node(labels("amd.com/gpu.product-name=AMD_Instinct_MI300X_OAM", "beta.amd.com/gpu.product-name.AMD_Instinct_MI300X_OAM=8")), []resourcev1.ResourceSlice{slice("a", pool(1, 2), driver("gpu.amd.com"), device("gpu-0", "type=amdgpu", "productName=x"))},
			fields{"vendor": "amd", "product": "AMD_Instinct_MI300X_OAM", "physicalGpus": "8", "reason": "ResourceSlicePoolIncomplete"},
		},
		"AMD cards without labels while the pool is incomplete": {
			node(), []resourcev1.ResourceSlice{slice("a", pool(1, 2), driver("gpu.amd.com"), device("gpu-0", "type=amdgpu", "productName=x", "pciAddr=0:1"))},
			fields{"vendor": "amd", "product": "x", "physicalGpus": "unknown"},
		},
		"a pool without the slice that has this node's devices": {
			node(), []resourcev1.ResourceSlice{slice("a", pool(2, 2))},
			fields{"isGpuNode": "true", "physicalGpus": "unknown", "ready": "false", "reason": "ResourceSlicePoolIncomplete"},
		},
		"devices that several claims share": {
			node(), []resourcev1.ResourceSlice{slice("a", gpuDevice("gpu-0", "GPU-a", "0:1"), func(s *resourcev1.ResourceSlice) {
				s.Spec.Devices[0].AllowMultipleAllocations = new(true)
			})},
			fields{"physicalGpus": "1", "sharing": "other", "allocatableUnits": "dra:gpu.nvidia.com:1"},
		},
		"parts of an unknown parent": {
			node(), []resourcev1.ResourceSlice{slice("a", device("m-0", "type=mig", h100Device, "profile=1g.10gb"), device("m-1", "type=mig", h100Device, "profile=1g.10gb"))},
			fields{"physicalGpus": "unknown", "variant": "MIG-1g.10gb", "sharing": "mig", "allocatableUnits": "dra:gpu.nvidia.com:2"},
		},
		"two pools of one driver": {
			node(), []resourcev1.ResourceSlice{slice("a", gpuDevice("gpu-0", "GPU-a", "0:1")), slice("b", gpuDevice("gpu-0", "GPU-b", "0:2"), func(s *resourcev1.ResourceSlice) { s.Spec.Pool.Name = "n-2" })},
			fields{"physicalGpus": "2", "allocatableUnits": "dra:gpu.nvidia.com:2"},
		},
		"two products": {
			node(), []resourcev1.ResourceSlice{slice("a", gpuDevice("gpu-0", "GPU-a", "0:1"), device("gpu-1", "type=gpu", "productName=NVIDIA T4", "uuid=GPU-b"))},
			fields{"product": "NVIDIA H100 80GB HBM3,NVIDIA T4", "physicalGpus": "2"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, readFields(tc.node, dra.DevicesByNode(tc.slices)["n"], Options{}, tc.want)); diff != "" {
				t.Errorf("Read() (-want +got):\n%s", diff)
			}
		})
	}
}
