package dra

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// API servers convert between the versions of ResourceSlice, but files have any version. These functions convert the fields
// that DevicesByNode reads, and no others.

// FromV1beta1 converts a ResourceSlice of resource.k8s.io/v1beta1, whose devices have their attributes under "basic".
func FromV1beta1(in *resourcev1beta1.ResourceSlice) resourcev1.ResourceSlice {
	s := &in.Spec
	out := convertSlice(in.ObjectMeta, s.Driver, s.NodeSelector, s.PerDeviceNodeSelection)
	out.Spec.Pool = resourcev1.ResourcePool{
		Name: s.Pool.Name, Generation: s.Pool.Generation, ResourceSliceCount: s.Pool.ResourceSliceCount,
	}
	if s.NodeName != "" {
		out.Spec.NodeName = &s.NodeName
	}
	if s.AllNodes {
		out.Spec.AllNodes = &s.AllNodes
	}
	for i := range s.Devices {
		d := resourcev1.Device{Name: s.Devices[i].Name}
		if b := s.Devices[i].Basic; b != nil {
			d.Attributes = convert(b.Attributes, attributeV1beta1)
			d.Capacity = convert(b.Capacity, func(c resourcev1beta1.DeviceCapacity) resourcev1.DeviceCapacity {
				return resourcev1.DeviceCapacity{Value: c.Value}
			})
			for _, t := range b.Taints {
				d.Taints = append(d.Taints, taint(t.Key, t.Value, string(t.Effect)))
			}
			d.NodeName, d.NodeSelector, d.AllNodes = b.NodeName, b.NodeSelector, b.AllNodes
			d.AllowMultipleAllocations = b.AllowMultipleAllocations
		}
		out.Spec.Devices = append(out.Spec.Devices, d)
	}
	return out
}

// FromV1beta2 converts a ResourceSlice of resource.k8s.io/v1beta2.
func FromV1beta2(in *resourcev1beta2.ResourceSlice) resourcev1.ResourceSlice {
	s := &in.Spec
	out := convertSlice(in.ObjectMeta, s.Driver, s.NodeSelector, s.PerDeviceNodeSelection)
	out.Spec.Pool = resourcev1.ResourcePool{
		Name: s.Pool.Name, Generation: s.Pool.Generation, ResourceSliceCount: s.Pool.ResourceSliceCount,
	}
	out.Spec.NodeName, out.Spec.AllNodes = s.NodeName, s.AllNodes
	for i := range s.Devices {
		b := &s.Devices[i]
		d := resourcev1.Device{
			Name: b.Name, NodeName: b.NodeName, NodeSelector: b.NodeSelector, AllNodes: b.AllNodes,
			Attributes: convert(b.Attributes, attributeV1beta2), AllowMultipleAllocations: b.AllowMultipleAllocations,
		}
		d.Capacity = convert(b.Capacity, func(c resourcev1beta2.DeviceCapacity) resourcev1.DeviceCapacity {
			return resourcev1.DeviceCapacity{Value: c.Value}
		})
		for _, t := range b.Taints {
			d.Taints = append(d.Taints, taint(t.Key, t.Value, string(t.Effect)))
		}
		out.Spec.Devices = append(out.Spec.Devices, d)
	}
	return out
}

func convertSlice(meta metav1.ObjectMeta, driver string, selector *corev1.NodeSelector, perDevice *bool) resourcev1.ResourceSlice {
	return resourcev1.ResourceSlice{
		ObjectMeta: meta,
		Spec:       resourcev1.ResourceSliceSpec{Driver: driver, NodeSelector: selector, PerDeviceNodeSelection: perDevice},
	}
}

func attributeV1beta1(a resourcev1beta1.DeviceAttribute) resourcev1.DeviceAttribute {
	return resourcev1.DeviceAttribute{IntValue: a.IntValue, BoolValue: a.BoolValue, StringValue: a.StringValue, VersionValue: a.VersionValue}
}

func attributeV1beta2(a resourcev1beta2.DeviceAttribute) resourcev1.DeviceAttribute {
	return resourcev1.DeviceAttribute{IntValue: a.IntValue, BoolValue: a.BoolValue, StringValue: a.StringValue, VersionValue: a.VersionValue}
}

func taint(key, value, effect string) resourcev1.DeviceTaint {
	return resourcev1.DeviceTaint{Key: key, Value: value, Effect: resourcev1.DeviceTaintEffect(effect)}
}

// convert maps the values of a map with qualified names. A nil map stays nil.
func convert[K ~string, V, W any](in map[K]V, value func(V) W) map[resourcev1.QualifiedName]W {
	if in == nil {
		return nil
	}
	out := make(map[resourcev1.QualifiedName]W, len(in))
	for k, v := range in {
		out[resourcev1.QualifiedName(k)] = value(v)
	}
	return out
}
