package holders

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podresources "k8s.io/component-helpers/resource"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// pod is a running pod of namespace team on node a, changed by mods.
func pod(mods ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "team"},
		Spec:       corev1.PodSpec{NodeName: "a"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, mod := range mods {
		mod(p)
	}
	return p
}

func quantities(pairs ...any) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i].(string))] = resource.MustParse(fmt.Sprint(pairs[i+1]))
	}
	return list
}

// container requests resources, and limits them to the same.
func container(pairs ...any) corev1.Container {
	return corev1.Container{Resources: corev1.ResourceRequirements{Requests: quantities(pairs...), Limits: quantities(pairs...)}}
}

func app(pairs ...any) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers = append(p.Spec.Containers, container(pairs...)) }
}

func initial(pairs ...any) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.InitContainers = append(p.Spec.InitContainers, container(pairs...)) }
}

func sidecar(pairs ...any) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		c := container(pairs...)
		c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
}

func phase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = phase }
}

const gpuName = "nvidia.com/gpu"

func TestOfPod(t *testing.T) {
	holds := func(units ...ResourceUnits) *Holding { return &Holding{Node: "a", Namespace: "team", Units: units} }
	terminating := func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }
	unbound := func(p *corev1.Pod) { p.Spec.NodeName = "" }
	limits := func(pairs ...any) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Resources: corev1.ResourceRequirements{Limits: quantities(pairs...)}})
		}
	}
	backed := func(p *corev1.Pod) {
		p.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{
			ResourceClaimName: "p-extended-resources-x",
			RequestMappings:   []corev1.ContainerExtendedResourceRequest{{ContainerName: "c", ResourceName: gpuName, RequestName: "container-0-request-0"}},
		}
	}
	claims := func(p *corev1.Pod) {
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{
			{Name: "mine", ResourceClaimName: new("shared-gpu")}, {Name: "made", ResourceClaimTemplateName: new("one-gpu")},
			{Name: "skipped", ResourceClaimTemplateName: new("none")},
		}
		p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "made", ResourceClaimName: new("p-made-x")}, {Name: "skipped"}}
	}
	cases := map[string]struct {
		pod  *corev1.Pod
		opts gpu.Options
		want *Holding // nil: nothing
	}{
		"no containers":                               {pod: pod()},
		"no GPU":                                      {pod: pod(app("cpu", 4, "memory", "8Gi", "rdma/hca", 1))},
		"running":                                     {pod: pod(app(gpuName, 2)), want: holds(ResourceUnits{gpuName, 2})},
		"containers add up":                           {pod: pod(app(gpuName, 2), app("cpu", 1), app(gpuName, 1)), want: holds(ResourceUnits{gpuName, 3})},
		"pending and not bound is only demand":        {pod: pod(app(gpuName, 8), phase(corev1.PodPending), unbound)},
		"pending and bound holds":                     {pod: pod(app(gpuName, 8), phase(corev1.PodPending)), want: holds(ResourceUnits{gpuName, 8})},
		"terminating holds":                           {pod: pod(app(gpuName, 8), terminating), want: holds(ResourceUnits{gpuName, 8})},
		"of an unknown phase holds":                   {pod: pod(app(gpuName, 8), phase(corev1.PodUnknown)), want: holds(ResourceUnits{gpuName, 8})},
		"succeeded holds nothing":                     {pod: pod(app(gpuName, 8), phase(corev1.PodSucceeded))},
		"failed holds nothing, terminating or not":    {pod: pod(app(gpuName, 8), phase(corev1.PodFailed), terminating)},
		"the largest init container counts":           {pod: pod(initial(gpuName, 4), initial(gpuName, 3), app(gpuName, 2), app(gpuName, 1)), want: holds(ResourceUnits{gpuName, 4})},
		"a small init container does not":             {pod: pod(initial(gpuName, 1), app(gpuName, 2)), want: holds(ResourceUnits{gpuName, 2})},
		"only an init container":                      {pod: pod(initial(gpuName, 1), app("cpu", 1)), want: holds(ResourceUnits{gpuName, 1})},
		"a sidecar runs beside the app":               {pod: pod(sidecar(gpuName, 1), app(gpuName, 2)), want: holds(ResourceUnits{gpuName, 3})},
		"a sidecar runs beside later init containers": {pod: pod(sidecar(gpuName, 1), initial(gpuName, 3), app(gpuName, 2)), want: holds(ResourceUnits{gpuName, 4})},
		"a sidecar does not run beside earlier ones":  {pod: pod(initial(gpuName, 3), sidecar(gpuName, 1), app(gpuName, 2)), want: holds(ResourceUnits{gpuName, 3})},
		"a limit alone is a request":                  {pod: pod(limits(gpuName, 2)), want: holds(ResourceUnits{gpuName, 2})},
		"a request wins over its limit": {pod: pod(func(p *corev1.Pod) {
			c := container(gpuName, 1)
			c.Resources.Limits = quantities(gpuName, 2)
			p.Spec.Containers = []corev1.Container{c}
		}), want: holds(ResourceUnits{gpuName, 1})},
		"0 is nothing": {pod: pod(app(gpuName, 0))},
		"resources are told apart": {pod: pod(app("nvidia.com/mig-1g.10gb", 2, gpuName, 1, "amd.com/gpu", 3)),
			want: holds(ResourceUnits{"amd.com/gpu", 3}, ResourceUnits{gpuName, 1}, ResourceUnits{"nvidia.com/mig-1g.10gb", 2})},
		"HAMi's memory and cores are no units":            {pod: pod(app(gpuName, 1, "nvidia.com/gpumem", 3000, "nvidia.com/gpucores", 50)), want: holds(ResourceUnits{gpuName, 1})},
		"memory is a unit where it is the resource":       {pod: pod(app("tencent.com/vcuda-memory", 16)), want: holds(ResourceUnits{"tencent.com/vcuda-memory", 16})},
		"a virtual machine's GPU":                         {pod: pod(app("nvidia.com/GA102GL_A10", 1, "devices.kubevirt.io/kvm", 1)), want: holds(ResourceUnits{"nvidia.com/GA102GL_A10", 1})},
		"an extra resource":                               {pod: pod(app("example.com/npu", 2)), opts: gpu.Options{ExtraResources: []string{"example.com/*"}}, want: holds(ResourceUnits{"example.com/npu", 2})},
		"an excluded resource":                            {pod: pod(app(gpuName, 2)), opts: gpu.Options{ExtraResources: []string{"-" + gpuName}}},
		"native resources are none, whatever the options": {pod: pod(app("cpu", 2)), opts: gpu.Options{ExtraResources: []string{"cpu"}}},
		"resources of the pod and overhead hold no GPU": {pod: pod(app("cpu", 1), func(p *corev1.Pod) {
			p.Spec.Overhead = quantities(gpuName, 1)
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: quantities(gpuName, 1), Limits: quantities(gpuName, 1)}
		})},
		"absurd quantities are bounded": {pod: pod(app(gpuName, "1e9999999"), app("amd.com/gpu", "9223372036854775807"), app("amd.com/gpu", "9223372036854775807")),
			want: holds(ResourceUnits{"amd.com/gpu", 1 << 40}, ResourceUnits{gpuName, 1 << 40})},
		"negative quantities are nothing": {pod: pod(app(gpuName, "-2"), app(gpuName, "-1e40"))},
		"a fraction is rounded up":        {pod: pod(app(gpuName, "1500m")), want: holds(ResourceUnits{gpuName, 2})},
		"claims are named, those that were not made are not": {pod: pod(app(gpuName, 1), claims),
			want: &Holding{Node: "a", Namespace: "team", Units: []ResourceUnits{{gpuName, 1}}, Claims: []string{"p-made-x", "shared-gpu"}}},
		"only claims": {pod: pod(app("cpu", 1), claims), want: &Holding{Node: "a", Namespace: "team", Claims: []string{"p-made-x", "shared-gpu"}}},
		"a resource that a claim backs is not counted besides": {pod: pod(app(gpuName, 2, "amd.com/gpu", 1), backed),
			want: &Holding{Node: "a", Namespace: "team", Units: []ResourceUnits{{"amd.com/gpu", 1}}, Claims: []string{"p-extended-resources-x"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := OfPod(tc.pod, tc.opts)
			var want Holding
			if tc.want != nil {
				want = *tc.want
			}
			if diff := cmp.Diff(want, got); diff != "" || ok != (tc.want != nil) {
				t.Errorf("OfPod() = _, %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

// TestOfPodCountsAsTheSchedulerDoes compares with the scheduler's own function, on pods that nobody thought of. It knows no
// defaulting, so the pods are defaulted first.
func TestOfPodCountsAsTheSchedulerDoes(t *testing.T) {
	names := []string{gpuName, "amd.com/gpu", "nvidia.com/mig-1g.10gb", "cpu", "rdma/hca"}
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		some := func() (pairs []any) {
			for _, name := range names {
				if rng.IntN(2) == 0 {
					pairs = append(pairs, name, rng.IntN(9))
				}
			}
			return pairs
		}
		p := pod()
		for range rng.IntN(4) {
			[]func(...any) func(*corev1.Pod){app, initial, sidecar}[rng.IntN(3)](some()...)(p)
		}
		want := map[string]int64{}
		for name, q := range podresources.PodRequests(p, podresources.PodResourcesOptions{}) {
			if isGPU(string(name), gpu.Options{}) && q.Value() > 0 {
				want[string(name)] = q.Value()
			}
		}
		for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range list {
				if rng.IntN(3) == 0 {
					list[i].Resources.Requests = nil // as before defaulting
				}
			}
		}
		h, _ := OfPod(p, gpu.Options{})
		got := map[string]int64{}
		for _, u := range h.Units {
			got[u.Resource] = u.Count
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: units (-scheduler +OfPod):\n%s", seed, diff)
		}
	}
}

// ordinary is a pod as most are: no GPU, and some resource that might be one.
func ordinary() *corev1.Pod {
	web := []any{"cpu", "500m", "memory", "1Gi", "ephemeral-storage", "2Gi"}
	return pod(initial(web...), app(web...), app(append(web, "vpc.amazonaws.com/pod-eni", 1, "rdma/hca", 1)...))
}

func TestOfPodAllocatesNothingForAPodWithoutGPUs(t *testing.T) {
	p, opts := ordinary(), gpu.Options{ExtraResources: []string{"example.com/npu", "-nvidia.com/pgpu"}}
	if n := testing.AllocsPerRun(100, func() { OfPod(p, opts) }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkOfPod(b *testing.B) {
	for name, p := range map[string]*corev1.Pod{
		"without GPUs": ordinary(), "with GPUs": pod(initial("cpu", 1), app("cpu", 8, "memory", "64Gi", gpuName, 8)), "ended": pod(app(gpuName, 8), phase(corev1.PodSucceeded)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				OfPod(p, gpu.Options{})
			}
		})
	}
}
