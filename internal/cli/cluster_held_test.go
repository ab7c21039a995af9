package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

const (
	podsPath       = "/api/v1/pods"
	claimsPath     = "/apis/resource.k8s.io/v1/resourceclaims"
	betaClaimsPath = "/apis/resource.k8s.io/v1beta1/resourceclaims"
)

// h100 is a node with eight GPUs.
func h100(name string) corev1.Node {
	n := aNode()
	n.Name = name
	n.Labels = map[string]string{"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "8", "nvidia.com/gpu.present": "true"}
	n.Status.Capacity = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}
	n.Status.Allocatable = n.Status.Capacity
	return n
}

func podWith(name, node string, gpus int64) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "x"},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"nvidia.com/gpu": *resource.NewQuantity(gpus, resource.DecimalSI)},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func nodeList(nodes ...corev1.Node) corev1.NodeList {
	return corev1.NodeList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}, Items: nodes}
}

func podList(next string, pods ...corev1.Pod) corev1.PodList {
	return corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{Continue: next}, Items: pods}
}

func slicesOf(slices ...resourcev1.ResourceSlice) resourcev1.ResourceSliceList {
	return resourcev1.ResourceSliceList{TypeMeta: metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceSliceList"}, Items: slices}
}

// draSlice publishes two GPUs of a node.
func draSlice(node string) resourcev1.ResourceSlice {
	s := resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node + "-gpus"}}
	s.Spec = resourcev1.ResourceSliceSpec{Driver: "gpu.nvidia.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}}
	for i := range 2 {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"type": {StringValue: new("gpu")}, "uuid": {StringValue: new(fmt.Sprintf("GPU-%s-%d", node, i))}, "productName": {StringValue: new("NVIDIA H100 80GB HBM3")},
		}})
	}
	return s
}

func claimOf(node, device string) resourcev1.ResourceClaim {
	c := resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c-" + device, Namespace: "x"}}
	c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
		{Request: "r", Driver: "gpu.nvidia.com", Pool: node, Device: device},
	}}}
	return c
}

func claimList(claims ...resourcev1.ResourceClaim) resourcev1.ResourceClaimList {
	return resourcev1.ResourceClaimList{TypeMeta: metav1.TypeMeta{APIVersion: "resource.k8s.io/v1", Kind: "ResourceClaimList"}, Items: claims}
}

func forbidden(what string) func(*http.Request) (int, any) {
	return always(403, problem(403, metav1.StatusReasonForbidden, what+" is forbidden"))
}

// fleetNumbers are what a scan says of units and of free GPUs.
type fleetNumbers struct {
	Free      *int32
	Resources []v1.ResourceSummary
}

func numbersOf(t *testing.T, stdout string) fleetNumbers {
	t.Helper()
	var inv v1.GpuInventory
	if err := json.Unmarshal([]byte(stdout), &inv); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	return fleetNumbers{inv.Status.FreeGpus, inv.Status.Resources}
}

func TestScanOfAClusterFindsWhoHoldsGPUsWhenAsked(t *testing.T) {
	held, units := func(n int64) *int64 { return &n }, func(allocated, free *int64) v1.ResourceSummary {
		return v1.ResourceSummary{Name: "nvidia.com/gpu", Capacity: 8, Allocatable: 8, Allocated: allocated, Free: free}
	}
	dra := func(allocated, free *int64) v1.ResourceSummary {
		return v1.ResourceSummary{Name: "dra:gpu.nvidia.com", Capacity: 2, Allocatable: 2, Allocated: allocated, Free: free}
	}
	plain := map[string]func(*http.Request) (int, any){
		nodesPath: always(200, nodeList(h100("a"))),
		podsPath:  always(200, podList("", podWith("p", "a", 2), podWith("q", "a", 1), podWith("gone", "b", 8))),
	}
	both := map[string]func(*http.Request) (int, any){
		nodesPath: always(200, nodeList(h100("a"), aNodeNamed("d"))), podsPath: plain[podsPath],
		slicesPath: always(200, slicesOf(draSlice("d"))), claimsPath: always(200, claimList(claimOf("d", "gpu-1"))),
	}
	with := func(base map[string]func(*http.Request) (int, any), path string, answer func(*http.Request) (int, any)) map[string]func(*http.Request) (int, any) {
		out := maps.Clone(base)
		out[path] = answer
		return out
	}
	cases := map[string]struct {
		answers map[string]func(*http.Request) (int, any)
		args    []string
		want    fleetNumbers
		notes   []string
	}{
		"without --pods nothing is asked and nothing known": {
			answers: with(plain, podsPath, nil), want: fleetNumbers{nil, []v1.ResourceSummary{units(nil, nil)}},
		},
		"with --pods, where DRA is not served": {
			answers: plain, args: []string{"--pods"}, want: fleetNumbers{new(int32(5)), []v1.ResourceSummary{units(held(3), held(5))}},
		},
		"without Pods nothing is held": {
			answers: with(plain, podsPath, always(200, podList(""))), args: []string{"--pods"},
			want: fleetNumbers{new(int32(8)), []v1.ResourceSummary{units(held(0), held(8))}},
		},
		"Pods come in pages": {
			answers: with(plain, podsPath, func(r *http.Request) (int, any) {
				if r.URL.Query().Get("continue") == "" {
					return 200, podList("2", podWith("p", "a", 2))
				}
				return 200, podList("", podWith("q", "a", 4))
			}),
			args: []string{"--pods"}, want: fleetNumbers{new(int32(2)), []v1.ResourceSummary{units(held(6), held(2))}},
		},
		"a page that has expired counts nobody twice": {
			answers: with(plain, podsPath, func(r *http.Request) (int, any) {
				switch q := r.URL.Query(); {
				case q.Get("continue") != "":
					return 410, problem(410, metav1.StatusReasonExpired, "too old")
				case q.Get("limit") != "":
					return 200, podList("2", podWith("p", "a", 2))
				default:
					return 200, podList("", podWith("p", "a", 2), podWith("q", "a", 4))
				}
			}),
			args: []string{"--pods"}, want: fleetNumbers{new(int32(2)), []v1.ResourceSummary{units(held(6), held(2))}},
		},
		"DRA devices and who holds them": {
			answers: both, args: []string{"--pods"},
			want: fleetNumbers{new(int32(6)), []v1.ResourceSummary{dra(held(1), held(1)), units(held(3), held(5))}},
		},
		"DRA of an older version": {
			answers: with(with(both, claimsPath, nil), betaClaimsPath, always(200, resourcev1beta1.ResourceClaimList{
				TypeMeta: metav1.TypeMeta{APIVersion: "resource.k8s.io/v1beta1", Kind: "ResourceClaimList"},
				Items: []resourcev1beta1.ResourceClaim{{Status: resourcev1beta1.ResourceClaimStatus{Allocation: &resourcev1beta1.AllocationResult{
					Devices: resourcev1beta1.DeviceAllocationResult{Results: []resourcev1beta1.DeviceRequestAllocationResult{{Driver: "gpu.nvidia.com", Pool: "d", Device: "gpu-0"}}}}}}},
			})),
			args: []string{"--pods"}, want: fleetNumbers{new(int32(6)), []v1.ResourceSummary{dra(held(1), held(1)), units(held(3), held(5))}},
		},
		"claims that may not be listed leave only DRA unknown": {
			answers: with(both, claimsPath, forbidden("resourceclaims")), args: []string{"--pods"},
			want:  fleetNumbers{nil, []v1.ResourceSummary{dra(nil, nil), units(held(3), held(5))}},
			notes: []string{"note: who holds devices of DRA drivers is not known: list resourceclaims: resourceclaims is forbidden"},
		},
		"slices that may not be listed are a note": {
			answers: with(plain, slicesPath, forbidden("resourceslices")), args: []string{"--pods"},
			want:  fleetNumbers{new(int32(5)), []v1.ResourceSummary{units(held(3), held(5))}},
			notes: []string{"note: devices of DRA drivers are not known: list resourceslices: resourceslices is forbidden"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &gpuServer{answers: tc.answers}
			code, stdout, stderr := run(t, "", append([]string{"scan", "-o", "json", "--kubeconfig", server.start(t)}, tc.args...)...)
			if code != 0 {
				t.Fatalf("exit code %d, stderr %q", code, stderr)
			}
			if diff := cmp.Diff(tc.want, numbersOf(t, stdout)); diff != "" {
				t.Errorf("inventory (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.notes, slices.Collect(lines(stderr))); diff != "" {
				t.Errorf("stderr (-want +got):\n%s", diff)
			}
			if len(tc.args) == 0 && (slices.Contains(server.asked, podsPath) || slices.Contains(server.asked, claimsPath)) {
				t.Errorf("asked for %v", server.asked)
			}
		})
	}
}

func lines(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(s) {
			if !yield(strings.TrimSuffix(line, "\n")) {
				return
			}
		}
	}
}

func aNodeNamed(name string) corev1.Node {
	n := aNode()
	n.Name = name
	return n
}

func TestScanAsksOnlyForPodsThatCanHoldAnything(t *testing.T) {
	var selector string
	server := &gpuServer{answers: map[string]func(*http.Request) (int, any){
		nodesPath: always(200, nodeList(h100("a"))),
		podsPath: func(r *http.Request) (int, any) {
			selector = r.URL.Query().Get("fieldSelector")
			return 200, podList("")
		},
	}}
	run(t, "", "scan", "--pods", "--kubeconfig", server.start(t))
	if want := "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"; selector != want {
		t.Errorf("field selector %q, want %q", selector, want)
	}
}

func TestPodsThatMayNotBeListedAreAnErrorWhenAskedFor(t *testing.T) {
	server := &gpuServer{answers: map[string]func(*http.Request) (int, any){nodesPath: always(200, nodeList(h100("a"))), podsPath: forbidden("pods")}}
	code, stdout, stderr := run(t, "", "scan", "--pods", "--kubeconfig", server.start(t))
	if code != 1 || stdout != "" || stderr != "error: list pods: pods is forbidden\n" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
