package gpu

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

// FuzzRead feeds Read with labels, quantities, annotations and devices of any shape. Pairs are written as lines of
// "key=value"; quantities as "name=capacity/allocatable"; devices as "name attribute=value ...".
func FuzzRead(f *testing.F) {
	f.Add("nvidia.com/gpu.product=NVIDIA-A100-MIG-1g.5gb-SHARED\nnvidia.com/gpu.count=7\nnvidia.com/gpu.replicas=2", "nvidia.com/gpu=14/14", "", "", "True", "KubeletReady")
	f.Add("nvidia.com/gpu.count=-1\nnvidia.com/gpu.memory=9223372036854775808\nnvidia.com/mig-.count=1", "nvidia.com/gpu=1e18/-5\nnvidia.com/mig-1g.5gb=500m/1k", "", "", "Unknown", "")
	f.Add("amd.com/gpu.vram=G\nbeta.amd.com/gpu.product-name.=8", "amd.com/cpx_nps=3/2\namd.com/gpu=0/0", "hami.io/node-nvidia-register=[{\"devmem\":-1}]", "", "False", "x\ny\xff")
	f.Add("cloud.google.com/gke-accelerator=nvidia-l4\ncloud.google.com/gke-max-shared-clients-per-gpu=0", "nvidia.com/gpu=4/4", "hami.io/node-nvidia-register=a,1,1,1,1:,,,,:", "", "True", "")
	f.Add("feature.node.kubernetes.io/pci-_10de_.present=true\nnvidia.com/gpu.workload.config=vm-vgpu", "nvidia.com/-12Q=1/1\nnvidia.com/A-1-5C=2/1\nnvidia.com/0000=9/9", "kwok.x-k8s.io/node=fake", "gpu-0 type=gpu uuid=a\ngpu-0 type=mig parentUUID=a\nv type=vfio", "True", "")
	f.Fuzz(func(t *testing.T, labelLines, quantityLines, annotationLines, deviceLines, status, reason string) {
		n := node(condition(corev1.NodeReady, corev1.ConditionStatus(status), reason, reason))
		condition("XidCriticalError", corev1.ConditionStatus(status), reason, reason)(n)
		n.Labels, n.Annotations = pairs(labelLines), pairs(annotationLines)
		for name, v := range pairs(quantityLines) {
			c, a, _ := strings.Cut(v, "/")
			setQuantity(n.Status.Capacity, name, c)
			setQuantity(n.Status.Allocatable, name, a)
		}
		devices := dra.DevicesByNode([]resourcev1.ResourceSlice{fuzzSlice(deviceLines)})["n"]
		reading, ok := readNode(n, devices, Options{ExtraResources: strings.Fields(reason)})
		if !ok {
			return
		}
		for _, fault := range faultsOf(n, reading.Row) {
			t.Error(fault)
		}
	})
}

func pairs(lines string) map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(lines, "\n") {
		if k, v, ok := strings.Cut(line, "="); ok {
			out[k] = v
		}
	}
	return out
}

func setQuantity(list corev1.ResourceList, name, value string) {
	// The parser itself takes seconds for exponents of seven digits.
	if strings.ContainsAny(value, "eE") && len(value) > 6 {
		return
	}
	if q, err := resource.ParseQuantity(value); err == nil {
		list[corev1.ResourceName(name)] = q
	}
}

func fuzzSlice(lines string) resourcev1.ResourceSlice {
	var mods []sliceMod
	for line := range strings.SplitSeq(lines, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.Contains(line, "emory=") {
			continue
		}
		mods = append(mods, device(words[0], words[1:]...))
	}
	return slice("s", mods...)
}
