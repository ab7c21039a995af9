package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu/gputest"
)

// TestCorpusThroughScan judges every field of the corpus by what scan prints for its files.
func TestCorpusThroughScan(t *testing.T) {
	cases := gputest.Corpus(t, "../gpu/testdata/corpus")
	if len(cases) != 116 {
		t.Errorf("%d cases, want 116", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			inv := scan(t, "", "-f", c.Path)
			if len(inv.Status.Nodes) == 0 {
				c.Judge(t, gputest.NoGPUNode())
				if n := inv.Status.TotalGpus; n == nil || *n != 0 {
					t.Errorf("totalGpus = %s, want 0", number(n))
				}
				return
			}
			node := inv.Status.Nodes[0]
			answers := c.Answers(node)
			answers[gputest.FieldUsed], answers[gputest.FieldFree] = gputest.Used(node), gputest.Free(inv.Status)
			answers[gputest.FieldMIGStrategy] = migStrategy(node)
			if node.GpuCount == nil {
				c.Judge(t, answers, gputest.FieldReplicas) // units of how many GPUs is not known
				return
			}
			answers[gputest.FieldReplicas] = replicas(node, c.Expected[gputest.FieldReplicas])
			c.Judge(t, answers)
		})
	}
}

// replicas is how many units of a resource there are for each GPU: the API has no field for that. Which resource is meant, only
// the corpus knows.
func replicas(n v1.GpuNode, expected string) string {
	for _, r := range n.Resources {
		if fmt.Sprint(r.Capacity/int64(*n.GpuCount)) == expected {
			return expected
		}
	}
	return "unknown"
}

// migStrategy is what the variant says about how MIG instances are named.
func migStrategy(n v1.GpuNode) string {
	switch variant := n.Gpus[0].Variant; {
	case variant == "MIG-mixed":
		return "mixed"
	case strings.HasPrefix(variant, "MIG-"):
		return "single"
	}
	return "none"
}

const (
	readyH100 = `
apiVersion: v1
kind: Node
metadata: {name: a, labels: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3, nvidia.com/gpu.count: "8"}}
status: {capacity: {nvidia.com/gpu: 8}, allocatable: {nvidia.com/gpu: 8}, conditions: [{type: Ready, status: "True"}]}
`
	runningPod = `
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s}
spec: {nodeName: a, containers: [{name: c, resources: {limits: {nvidia.com/gpu: %d}}}]}
status: {phase: Running}
`
	draNode = `
apiVersion: v1
kind: Node
metadata: {name: a}
status: {conditions: [{type: Ready, status: "True"}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.nvidia.com
  nodeName: a
  pool: {name: a, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, attributes: {uuid: {string: GPU-0}}}, {name: gpu-1, attributes: {uuid: {string: GPU-1}}}]
`
	allocatedClaim = `
apiVersion: resource.k8s.io/%s
kind: ResourceClaim
metadata: {name: c, namespace: %s}
status: {allocation: {devices: {results: [{request: r, driver: gpu.nvidia.com, pool: a, device: %s}]}}}
`
)

func TestScanOfFilesFindsWhoHoldsGPUs(t *testing.T) {
	pod := func(name, namespace string, n int) string { return fmt.Sprintf(runningPod, name, namespace, n) }
	claim := func(version, namespace, device string) string {
		return fmt.Sprintf(allocatedClaim, version, namespace, device)
	}
	free := func(n int32) *int32 { return &n }
	cases := map[string]struct {
		documents []string
		want      *int32
		allocated string
	}{
		"without any Pod it is not known":            {[]string{readyH100}, nil, "none"},
		"an empty list of Pods is known":             {[]string{readyH100, `{"apiVersion":"v1","kind":"PodList","items":[]}`}, free(8), "nvidia.com/gpu:0"},
		"an empty list of anything is not":           {[]string{readyH100, `{"apiVersion":"v1","kind":"ServiceList","items":[]}`, `{"apiVersion":"example.com/v1","kind":"PodList","items":[]}`}, nil, "none"},
		"Pods hold":                                  {[]string{readyH100, pod("p", "x", 2), pod("q", "x", 1)}, free(5), "nvidia.com/gpu:3"},
		"before the Node too":                        {[]string{pod("p", "x", 2), readyH100}, free(6), "nvidia.com/gpu:2"},
		"one name in two namespaces is two Pods":     {[]string{readyH100, pod("p", "x", 2), pod("p", "z", 1)}, free(5), "nvidia.com/gpu:3"},
		"a Pod that has ended tells that Pods were":  {[]string{readyH100, strings.Replace(pod("p", "x", 2), "Running", "Succeeded", 1)}, free(8), "nvidia.com/gpu:0"},
		"a Pod that was never created tells nothing": {[]string{readyH100, "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}\n"}, nil, "none"},
		"a list of Pods": {[]string{readyH100, `{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"p","namespace":"x"},
			"spec":{"nodeName":"a","containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":"3"}}}]},"status":{"phase":"Running"}}]}`}, free(5), "nvidia.com/gpu:3"},
		"DRA: Pods alone do not tell":       {[]string{draNode, pod("p", "x", 0)}, nil, "none"},
		"DRA: an empty list of claims":      {[]string{draNode, `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimList","items":[]}`}, free(2), "dra:gpu.nvidia.com:0"},
		"DRA: a claim":                      {[]string{draNode, claim("v1", "x", "gpu-0")}, free(1), "dra:gpu.nvidia.com:1"},
		"DRA: a claim of v1beta2":           {[]string{draNode, claim("v1beta2", "x", "gpu-0")}, free(1), "dra:gpu.nvidia.com:1"},
		"DRA: a claim of v1beta1":           {[]string{draNode, claim("v1beta1", "x", "gpu-0")}, free(1), "dra:gpu.nvidia.com:1"},
		"DRA: claims on the same device":    {[]string{draNode, claim("v1", "x", "gpu-0"), claim("v1", "z", "gpu-0")}, free(1), "dra:gpu.nvidia.com:1"},
		"DRA: a device that has gone":       {[]string{draNode, claim("v1", "x", "gpu-7")}, free(1), "dra:gpu.nvidia.com:1"},
		"DRA: a claim that has nothing yet": {[]string{draNode, "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, namespace: x}\n"}, free(2), "dra:gpu.nvidia.com:0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inv := scan(t, strings.Join(tc.documents, "\n---\n"), "-f", "-")
			if diff := cmp.Diff(tc.want, inv.Status.FreeGpus); diff != "" {
				t.Errorf("freeGpus (-want +got):\n%s", diff)
			}
			if got := gputest.Used(inv.Status.Nodes[0]); got != tc.allocated {
				t.Errorf("allocated %s, want %s", got, tc.allocated)
			}
		})
	}
}

func TestPodsMayBeInAFileOfTheirOwn(t *testing.T) {
	nodes, pods := file(t, "nodes.yaml", readyH100), file(t, "pods.yaml", fmt.Sprintf(runningPod, "p", "x", 2))
	empty := file(t, "none.json", `{"apiVersion":"v1","kind":"PodList","items":[]}`)
	for want, args := range map[int32][]string{6: {"-f", nodes, "-f", pods}, 8: {"-f", empty, "-f", nodes}} {
		if got := scan(t, "", args...).Status.FreeGpus; got == nil || *got != want {
			t.Errorf("%v: freeGpus = %s, want %d", args, number(got), want)
		}
	}
	if code, _, stderr := run(t, "", "scan", "-f", empty); code != 2 || !strings.Contains(stderr, filepath.Base(empty)+": no Node in it, but 0 Pod;") {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

func TestBadHoldersAreBadInput(t *testing.T) {
	cases := map[string]struct{ documents, want string }{
		"the same Pod twice": {fmt.Sprintf(runningPod, "p", "x", 2) + "---" + fmt.Sprintf(runningPod, "p", "x", 2),
			`standard input: document 3: the Pod "x/p" is there twice, first in standard input: document 2`},
		"the same claim twice": {fmt.Sprintf(allocatedClaim, "v1", "x", "gpu-0") + "---" + fmt.Sprintf(allocatedClaim, "v1beta1", "x", "gpu-0"),
			`document 3: the ResourceClaim "x/c" is there twice`},
		"a Pod that holds and has no name": {strings.Replace(fmt.Sprintf(runningPod, "p", "x", 2), "name: p, ", "", 1), `document 2: a Pod without metadata.name`},
		"a number of units that is none":   {strings.Replace(fmt.Sprintf(runningPod, "p", "x", 2), "gpu: 2", "gpu: two", 1), `Pod "p": spec.containers[0].resources.limits[nvidia.com/gpu]: `},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, readyH100+"---"+tc.documents, "scan", "-f", "-")
			if code != 2 || stdout != "" || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit code %d, stdout %q, stderr %q, want 2 and %q", code, stdout, stderr, tc.want)
			}
		})
	}
}

func TestPodsOfAClusterAreNotReadBesideFiles(t *testing.T) {
	code, _, stderr := run(t, "", "scan", "--pods", "-f", homelab)
	if code != 2 || !strings.Contains(stderr, "filename") {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}
