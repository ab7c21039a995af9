package gpu

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// transition is when every condition of a built Node last changed.
var transition = metav1.NewTime(time.Date(2026, 7, 10, 15, 2, 11, 0, time.UTC))

type mod func(*corev1.Node)

// node builds a Ready Node named n.
func node(mods ...mod) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{}, Annotations: map[string]string{}}}
	n.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("32")}
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("31")}
	condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status")(n)
	for _, m := range mods {
		m(n)
	}
	return n
}

// readNode reads a Node and what was published for it.
func readNode(n *corev1.Node, devices *dra.Devices, opts Options) (Reading, bool) {
	return Read(FactsOf(n, opts, nil), devices, opts)
}

// labels sets labels written as "key=value". A key without a domain gets nvidia.com/.
func labels(pairs ...string) mod {
	return func(n *corev1.Node) {
		for _, p := range pairs {
			k, v, _ := strings.Cut(p, "=")
			if !strings.Contains(k, "/") {
				k = nvidiaDomain + k
			}
			n.Labels[k] = v
		}
	}
}

// offers sets capacity and allocatable of a resource. A name without a domain gets nvidia.com/.
func offers(name, capacity, allocatable string) mod {
	if !strings.Contains(name, "/") {
		name = nvidiaDomain + name
	}
	return func(n *corev1.Node) {
		n.Status.Capacity[corev1.ResourceName(name)] = resource.MustParse(capacity)
		n.Status.Allocatable[corev1.ResourceName(name)] = resource.MustParse(allocatable)
	}
}

func annotation(key, value string) mod {
	return func(n *corev1.Node) { n.Annotations[key] = value }
}

// condition sets a condition, in place of one of the same type.
func condition(t corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) mod {
	return func(n *corev1.Node) {
		c := corev1.NodeCondition{Type: t, Status: status, Reason: reason, Message: message, LastTransitionTime: transition}
		for i := range n.Status.Conditions {
			if n.Status.Conditions[i].Type == t {
				n.Status.Conditions[i] = c
				return
			}
		}
		n.Status.Conditions = append(n.Status.Conditions, c)
	}
}

// h100s are the labels and the resource of a healthy container node with eight H100.
func h100s(n *corev1.Node) {
	labels("gpu.product=NVIDIA-H100-80GB-HBM3", "gpu.count=8", "gpu.memory=81559", "gpu.replicas=1", "gpu.sharing-strategy=none")(n)
	offers("gpu", "8", "8")(n)
}

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

func driver(name string) sliceMod {
	return func(s *resourcev1.ResourceSlice) { s.Spec.Driver = name }
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
