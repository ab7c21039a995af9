package dra

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestConvertedSlicesReadTheSame(t *testing.T) {
	want := slice("a", device("gpu-0", "type=gpu", "productName=NVIDIA H100 80GB HBM3", "uuid=GPU-a", "resource.kubernetes.io/pciBusID=0:1", "memory=81559Mi", "taint=k:NoSchedule"))
	want.Spec.Devices[0].AllowMultipleAllocations = new(true)
	memory := resource.MustParse("81559Mi")

	b1 := resourcev1beta1.ResourceSlice{Spec: resourcev1beta1.ResourceSliceSpec{
		Driver: "gpu.nvidia.com", NodeName: "n", Pool: resourcev1beta1.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1},
		Devices: []resourcev1beta1.Device{{Name: "gpu-0", Basic: &resourcev1beta1.BasicDevice{
			Attributes:               map[resourcev1beta1.QualifiedName]resourcev1beta1.DeviceAttribute{},
			Capacity:                 map[resourcev1beta1.QualifiedName]resourcev1beta1.DeviceCapacity{"memory": {Value: memory}},
			Taints:                   []resourcev1beta1.DeviceTaint{{Key: "k", Effect: "NoSchedule"}},
			AllowMultipleAllocations: new(true),
		}}},
	}}
	b2 := resourcev1beta2.ResourceSlice{Spec: resourcev1beta2.ResourceSliceSpec{
		Driver: "gpu.nvidia.com", NodeName: new("n"), Pool: resourcev1beta2.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1},
		Devices: []resourcev1beta2.Device{{
			Name:                     "gpu-0",
			Attributes:               map[resourcev1beta2.QualifiedName]resourcev1beta2.DeviceAttribute{},
			Capacity:                 map[resourcev1beta2.QualifiedName]resourcev1beta2.DeviceCapacity{"memory": {Value: memory}},
			Taints:                   []resourcev1beta2.DeviceTaint{{Key: "k", Effect: "NoSchedule"}},
			AllowMultipleAllocations: new(true),
		}},
	}}
	for k, a := range want.Spec.Devices[0].Attributes {
		b1.Spec.Devices[0].Basic.Attributes[resourcev1beta1.QualifiedName(k)] = resourcev1beta1.DeviceAttribute{StringValue: a.StringValue}
		b2.Spec.Devices[0].Attributes[resourcev1beta2.QualifiedName(k)] = resourcev1beta2.DeviceAttribute{StringValue: a.StringValue}
	}
	devices := DevicesByNode([]resourcev1.ResourceSlice{want})
	for name, got := range map[string]resourcev1.ResourceSlice{"v1beta1": FromV1beta1(&b1), "v1beta2": FromV1beta2(&b2)} {
		if diff := cmp.Diff(devices, DevicesByNode([]resourcev1.ResourceSlice{got})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	b1.Spec.NodeName, b1.Spec.AllNodes = "", true
	if got := FromV1beta1(&b1); got.Spec.NodeName != nil || got.Spec.AllNodes == nil || len(DevicesByNode([]resourcev1.ResourceSlice{got})) != 0 {
		t.Errorf("a v1beta1 slice for all nodes became %+v", got.Spec)
	}
}
