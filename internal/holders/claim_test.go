package holders

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

const nvidiaDriver = "gpu.nvidia.com"

func device(pool, name string) dra.DeviceID {
	return dra.DeviceID{Driver: nvidiaDriver, Pool: pool, Device: name}
}

// claim is a ResourceClaim of namespace team with results in its allocation.
func claim(results ...resourcev1.DeviceRequestAllocationResult) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{}
	c.Namespace = "team"
	c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: results}}
	return c
}

func TestOfClaim(t *testing.T) {
	got := func(driver, pool, name string, mods ...func(*resourcev1.DeviceRequestAllocationResult)) resourcev1.DeviceRequestAllocationResult {
		r := resourcev1.DeviceRequestAllocationResult{Request: "gpu/small", Driver: driver, Pool: pool, Device: name}
		for _, mod := range mods {
			mod(&r)
		}
		return r
	}
	admin := func(yes bool) func(*resourcev1.DeviceRequestAllocationResult) {
		return func(r *resourcev1.DeviceRequestAllocationResult) { r.AdminAccess = &yes }
	}
	share := func(id string) func(*resourcev1.DeviceRequestAllocationResult) {
		return func(r *resourcev1.DeviceRequestAllocationResult) { r.ShareID = new(types.UID(id)) }
	}
	on := func(selector *corev1.NodeSelector) *resourcev1.ResourceClaim {
		c := claim(got(nvidiaDriver, "a", "gpu-0"))
		c.Status.Allocation.NodeSelector = selector
		return c
	}
	named := func(op corev1.NodeSelectorOperator, values ...string) *corev1.NodeSelector {
		return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: op, Values: values}},
		}}}
	}
	many := claim(got(nvidiaDriver, "a", "gpu-0"))
	for i := range 3 {
		many.Status.ReservedFor = append(many.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: fmt.Sprint(i)})
	}
	one := &Claim{Namespace: "team", Devices: []dra.DeviceID{device("a", "gpu-0")}}
	onA := &Claim{Namespace: "team", Node: "a", Devices: one.Devices}
	cases := map[string]struct {
		claim *resourcev1.ResourceClaim
		opts  gpu.Options
		want  *Claim // nil: nothing
	}{
		"not allocated":                         {claim: &resourcev1.ResourceClaim{}},
		"allocated without devices":             {claim: claim()},
		"allocated and used by no pod holds":    {claim: claim(got(nvidiaDriver, "a", "gpu-0")), want: one},
		"reserved for many pods is one use":     {claim: many, want: one},
		"administrators hold nothing":           {claim: claim(got(nvidiaDriver, "a", "gpu-0", admin(true)))},
		"no administrator":                      {claim: claim(got(nvidiaDriver, "a", "gpu-0", admin(false))), want: one},
		"shares of a device are one device":     {claim: claim(got(nvidiaDriver, "a", "gpu-0", share("x")), got(nvidiaDriver, "a", "gpu-0", share("y"))), want: one},
		"devices that are no GPUs":              {claim: claim(got("compute-domain.nvidia.com", "a", "channel-0"), got("net.example.com", "a", "eth1"))},
		"an extra driver":                       {claim: claim(got("npu.example.com", "a", "0")), opts: gpu.Options{ExtraResources: []string{"dra:npu.example.com"}}, want: &Claim{Namespace: "team", Devices: []dra.DeviceID{{Driver: "npu.example.com", Pool: "a", Device: "0"}}}},
		"devices are sorted":                    {claim: claim(got(nvidiaDriver, "b", "gpu-0"), got(nvidiaDriver, "a", "gpu-1"), got(nvidiaDriver, "a", "gpu-0")), want: &Claim{Namespace: "team", Devices: []dra.DeviceID{device("a", "gpu-0"), device("a", "gpu-1"), device("b", "gpu-0")}}},
		"a selector of one node names it":       {claim: on(named(corev1.NodeSelectorOpIn, "a")), want: onA},
		"a selector of two nodes names none":    {claim: on(named(corev1.NodeSelectorOpIn, "a", "b")), want: one},
		"a selector by exclusion names none":    {claim: on(named(corev1.NodeSelectorOpNotIn, "a")), want: one},
		"a selector of alternatives names none": {claim: on(&corev1.NodeSelector{NodeSelectorTerms: make([]corev1.NodeSelectorTerm, 2)}), want: one},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := OfClaim(tc.claim, tc.opts)
			var want Claim
			if tc.want != nil {
				want = *tc.want
			}
			if diff := cmp.Diff(want, got); diff != "" || ok != (tc.want != nil) {
				t.Errorf("OfClaim() = _, %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func TestEveryVersionOfAClaimHoldsTheSame(t *testing.T) {
	const text = `
metadata: {name: c, namespace: team}
status:
  allocation:
    nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}
    devices:
      results:
      - {request: r, driver: gpu.nvidia.com, pool: a, device: gpu-1, shareID: a671734a-e8e5-11e4-8fde-42010af09327}
      - {request: r/s, driver: gpu.nvidia.com, pool: a, device: gpu-0}
      - {request: admin, driver: gpu.nvidia.com, pool: a, device: gpu-2, adminAccess: true}
  reservedFor: [{resource: pods, name: p, uid: u}]
`
	want := Claim{Namespace: "team", Node: "a", Devices: []dra.DeviceID{device("a", "gpu-0"), device("a", "gpu-1")}}
	v1, empty1 := read[resourcev1.ResourceClaim](t, text), resourcev1.ResourceClaim{}
	beta2, beta1 := read[resourcev1beta2.ResourceClaim](t, text), read[resourcev1beta1.ResourceClaim](t, text)
	for version, in := range map[string]struct{ full, empty resourcev1.ResourceClaim }{
		"v1":      {*v1, empty1},
		"v1beta2": {FromV1beta2(beta2), FromV1beta2(&resourcev1beta2.ResourceClaim{})},
		"v1beta1": {FromV1beta1(beta1), FromV1beta1(&resourcev1beta1.ResourceClaim{})},
	} {
		got, ok := OfClaim(&in.full, gpu.Options{})
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: OfClaim() = _, %v (-want +got):\n%s", version, ok, diff)
		}
		if got, ok := OfClaim(&in.empty, gpu.Options{}); ok {
			t.Errorf("%s: a claim that is not allocated holds %v", version, got)
		}
	}
}

func read[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}
