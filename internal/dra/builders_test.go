package dra

import (
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type sliceMod func(*resourcev1.ResourceSlice)

// slice builds a ResourceSlice of the NVIDIA driver: pool n of node n, generation 1, of 1 slice.
func slice(name string, mods ...sliceMod) resourcev1.ResourceSlice {
	s := resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Spec.Driver = "gpu.nvidia.com"
	s.Spec.NodeName = new("n")
	s.Spec.Pool = resourcev1.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1}
	for _, m := range mods {
		m(&s)
	}
	return s
}

func pool(generation, count int64) sliceMod {
	return func(s *resourcev1.ResourceSlice) {
		s.Spec.Pool.Generation, s.Spec.Pool.ResourceSliceCount = generation, count
	}
}

// device adds a device with string attributes written as "key=value". A value of memory becomes capacity; a taint is written
// as taint=key:effect.
func device(name string, attributes ...string) sliceMod {
	return func(s *resourcev1.ResourceSlice) {
		d := resourcev1.Device{
			Name:       name,
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{},
			Capacity:   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{},
		}
		for _, a := range attributes {
			k, v, _ := strings.Cut(a, "=")
			switch k {
			case "memory", "addressableMemory":
				d.Capacity[resourcev1.QualifiedName(k)] = resourcev1.DeviceCapacity{Value: resource.MustParse(v)}
			case "taint":
				key, effect, _ := strings.Cut(v, ":")
				d.Taints = append(d.Taints, resourcev1.DeviceTaint{Key: key, Effect: resourcev1.DeviceTaintEffect(effect)})
			default:
				d.Attributes[resourcev1.QualifiedName(k)] = resourcev1.DeviceAttribute{StringValue: new(v)}
			}
		}
		s.Spec.Devices = append(s.Spec.Devices, d)
	}
}
