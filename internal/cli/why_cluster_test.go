package cli

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// gpuServer is an API server with the Node a and what drivers publish for it.
type gpuServer struct {
	asked []string
	// answers are by path.
	answers map[string]func(*http.Request) (int, any)
}

func (s *gpuServer) start(t *testing.T) (kubeconfig string) {
	return apiServer(t, func(w http.ResponseWriter, r *http.Request) {
		s.asked = append(s.asked, r.URL.Path)
		answer := s.answers[r.URL.Path]
		if answer == nil {
			respond(t, w, 404, problem(404, metav1.StatusReasonNotFound, "the server could not find the requested resource"))
			return
		}
		code, body := answer(r)
		respond(t, w, code, body)
	}, "good")
}

func always(code int, body any) func(*http.Request) (int, any) {
	return func(*http.Request) (int, any) { return code, body }
}

const (
	nodePath   = "/api/v1/nodes/a"
	nodesPath  = "/api/v1/nodes"
	slicesPath = "/apis/resource.k8s.io/v1/resourceslices"
	betaPath   = "/apis/resource.k8s.io/v1beta1/resourceslices"
)

func aNode() corev1.Node {
	return corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// sliceNamed publishes one GPU of node a, in a pool of two slices.
func sliceNamed(name string) resourcev1.ResourceSlice {
	return resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.nvidia.com", NodeName: new("a"), Pool: resourcev1.ResourcePool{Name: "a", Generation: 1, ResourceSliceCount: 2},
			Devices: []resourcev1.Device{{Name: name, Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"type": {StringValue: new("gpu")}, "uuid": {StringValue: new("GPU-" + name)}, "productName": {StringValue: new("NVIDIA L4")},
			}}},
		},
	}
}

func sliceList(next string, names ...string) resourcev1.ResourceSliceList {
	list := resourcev1.ResourceSliceList{ListMeta: metav1.ListMeta{Continue: next}}
	for _, n := range names {
		list.Items = append(list.Items, sliceNamed(n))
	}
	return list
}

func TestWhyOfAClusterReadsTheNodeAndTheResourceSlices(t *testing.T) {
	beta := resourcev1beta1.ResourceSliceList{}
	for _, n := range []string{"x", "y"} {
		s := sliceNamed(n)
		beta.Items = append(beta.Items, resourcev1beta1.ResourceSlice{
			ObjectMeta: s.ObjectMeta,
			Spec: resourcev1beta1.ResourceSliceSpec{
				Driver: s.Spec.Driver, NodeName: "a", Pool: resourcev1beta1.ResourcePool{Name: "a", Generation: 1, ResourceSliceCount: 2},
				Devices: []resourcev1beta1.Device{{Name: n, Basic: &resourcev1beta1.BasicDevice{
					Attributes: map[resourcev1beta1.QualifiedName]resourcev1beta1.DeviceAttribute{
						"type": {StringValue: new("gpu")}, "uuid": {StringValue: new("GPU-" + n)}, "productName": {StringValue: new("NVIDIA L4")},
					},
				}}},
			},
		})
	}
	const found, none = "2 x NVIDIA L4 (nvidia)", "a is no GPU node: nothing known"
	cases := map[string]struct {
		answers map[string]func(*http.Request) (int, any)
		asked   []string
		want    string
	}{
		"one page": {
			map[string]func(*http.Request) (int, any){slicesPath: always(200, sliceList("", "x", "y"))},
			[]string{nodePath, slicesPath}, found,
		},
		"two pages": {
			map[string]func(*http.Request) (int, any){slicesPath: func(r *http.Request) (int, any) {
				if r.URL.Query().Get("continue") == "" {
					return 200, sliceList("2", "x")
				}
				return 200, sliceList("", "y")
			}},
			[]string{nodePath, slicesPath, slicesPath}, found,
		},
		"a page that has expired": {
			map[string]func(*http.Request) (int, any){slicesPath: func(r *http.Request) (int, any) {
				switch q := r.URL.Query(); {
				case q.Get("continue") != "":
					return 410, problem(410, metav1.StatusReasonExpired, "too old")
				case q.Get("limit") != "":
					return 200, sliceList("2", "x", "gone-meanwhile")
				}
				return 200, sliceList("", "x", "y")
			}},
			[]string{nodePath, slicesPath, slicesPath, slicesPath}, found,
		},
		"an older version": {
			map[string]func(*http.Request) (int, any){betaPath: always(200, beta)},
			[]string{nodePath, slicesPath, "/apis/resource.k8s.io/v1beta2/resourceslices", betaPath}, found,
		},
		"no version": {
			nil,
			[]string{nodePath, slicesPath, "/apis/resource.k8s.io/v1beta2/resourceslices", betaPath}, none,
		},
		"none published": {
			map[string]func(*http.Request) (int, any){slicesPath: always(200, sliceList(""))},
			[]string{nodePath, slicesPath}, none,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := gpuServer{answers: map[string]func(*http.Request) (int, any){nodePath: always(200, aNode())}}
			maps.Copy(server.answers, tc.answers)
			code, stdout, stderr := run(t, "", "why", "a", "--kubeconfig", server.start(t))
			if code != 0 || stderr != "" {
				t.Errorf("exit code %d, stderr %q, want 0 and nothing", code, stderr)
			}
			if !strings.Contains(stdout, tc.want) {
				t.Errorf("stdout %s\nwant it to contain %q", stdout, tc.want)
			}
			if diff := cmp.Diff(tc.asked, server.asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhySaysWhenResourceSlicesMayNotBeListed(t *testing.T) {
	server := gpuServer{answers: map[string]func(*http.Request) (int, any){
		nodePath:   always(200, aNode()),
		slicesPath: always(403, problem(403, metav1.StatusReasonForbidden, "resourceslices is forbidden")),
	}}
	kubeconfig := server.start(t)
	const note = "note: devices of DRA drivers are not known: list resourceslices: resourceslices is forbidden\n"
	code, stdout, stderr := run(t, "", "why", "a", "--kubeconfig", kubeconfig)
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, note+"\na is no GPU node, as far as could be read: nothing known") {
		t.Errorf("table: exit code %d, stderr %q, stdout %s\nwant the note first", code, stderr, stdout)
	}
	code, stdout, stderr = run(t, "", "why", "a", "-o", "json", "--kubeconfig", kubeconfig)
	if code != 0 || stderr != note || object(t, []byte(stdout))["row"] != nil {
		t.Errorf("json: exit code %d, stderr %q, stdout %s\nwant the note on stderr", code, stderr, stdout)
	}
}

func TestWhyOfAnUnknownNodeOfTheClusterNamesOthers(t *testing.T) {
	server := gpuServer{answers: map[string]func(*http.Request) (int, any){nodesPath: always(200, homelabNodes(t))}}
	kubeconfig := server.start(t)
	for name, want := range map[string]string{
		"nuc": "there is no Node \"nuc\"; the nearest of 8: nuc1, nuc2, nas1",
		"a/b": "there is no Node \"a/b\"; the nearest of 8: nas1, nuc1, nuc2",
	} {
		wantRefused(t, want, "", "why", name, "--kubeconfig", kubeconfig)
	}
	if slices.Contains(server.asked, slicesPath) {
		t.Errorf("requests %q, want none for ResourceSlices of a Node that is not there", server.asked)
	}

	server.answers[nodesPath] = always(403, problem(403, metav1.StatusReasonForbidden, "nodes is forbidden"))
	code, _, stderr := run(t, "", "why", "nuc", "--kubeconfig", kubeconfig)
	if want := "error: there is no Node \"nuc\"; others cannot be named: list nodes: nodes is forbidden\n"; code != 2 || stderr != want {
		t.Errorf("exit code %d, stderr %q, want 2 and %q", code, stderr, want)
	}
}

func TestWhyOfAClusterThatCannotBeReadIsExitCode1(t *testing.T) {
	broken := always(500, problem(500, metav1.StatusReasonInternalError, "etcd is gone"))
	node := always(200, aNode())
	cases := map[string]struct {
		answers map[string]func(*http.Request) (int, any)
		want    string
	}{
		"the Node":        {map[string]func(*http.Request) (int, any){nodePath: broken}, "get node a: etcd is gone"},
		"the Nodes":       {map[string]func(*http.Request) (int, any){nodesPath: broken}, "list nodes: etcd is gone"},
		"ResourceSlices":  {map[string]func(*http.Request) (int, any){nodePath: node, slicesPath: broken}, "list resourceslices: etcd is gone"},
		"an answer":       {map[string]func(*http.Request) (int, any){nodePath: node, slicesPath: always(200, []string{"x"})}, "list resourceslices: json: "},
		"a list of pages": {map[string]func(*http.Request) (int, any){nodePath: node, slicesPath: always(410, problem(410, metav1.StatusReasonExpired, "too old"))}, "list resourceslices: too old"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := gpuServer{answers: tc.answers}
			code, stdout, stderr := run(t, "", "why", "a", "--kubeconfig", server.start(t))
			if code != 1 || stdout != "" || !strings.HasPrefix(stderr, "error: "+tc.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d, stdout %q, stderr %q, want 1 and one line with %q", code, stdout, stderr, tc.want)
			}
		})
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	code, _, stderr := run(t, "", "why", "a")
	if want := "error: no cluster to read from: no kubeconfig found; \"kubectl gpuinv scan -f FILE\" reads files\n"; code != 1 || stderr != want {
		t.Errorf("exit code %d, stderr %q, want 1 and %q", code, stderr, want)
	}
}
