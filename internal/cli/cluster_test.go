package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

const kubeconfigText = `
apiVersion: v1
kind: Config
clusters:
- {name: good, cluster: {server: %q}}
- {name: other, cluster: {server: "http://127.0.0.1:1"}}
contexts:
- {name: good, context: {cluster: good, user: me}}
- {name: other, context: {cluster: other, user: me}}
current-context: %s
users:
- {name: me, user: {token: x}}
`

// apiServer serves requests and returns the name of a kubeconfig for it.
func apiServer(t *testing.T, handler http.HandlerFunc, current string) (kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return file(t, "kubeconfig", fmt.Sprintf(kubeconfigText, server.URL, current))
}

// respond answers with an object, as an API server does.
func respond(t *testing.T, w http.ResponseWriter, code int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(object); err != nil {
		t.Error(err)
	}
}

func problem(code int, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message,
	}
}

// noDRA is the answer of a server that serves nothing of DRA.
func noDRA(*http.Request) (code int, body any) {
	return 404, problem(404, metav1.StatusReasonNotFound, "the server could not find the requested resource")
}

func homelabNodes(t *testing.T) corev1.NodeList {
	t.Helper()
	var nodes corev1.NodeList
	if err := yaml.Unmarshal(homelabNodesText(t), &nodes); err != nil {
		t.Fatal(err)
	}
	nodes.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}
	return nodes
}

// homelabNodesText is the homelab's list of Nodes without the empty one of Pods, which a scan of a cluster does not read.
func homelabNodesText(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(homelab)
	if err != nil {
		t.Fatal(err)
	}
	nodes, _, ok := bytes.Cut(text, []byte("\n---\n"))
	if !ok {
		t.Fatalf("%s is one document", homelab)
	}
	return append(nodes, '\n')
}

func TestScanOfAClusterReadsTheNodesPageByPage(t *testing.T) {
	all := homelabNodes(t)
	page := func(items []corev1.Node, next string) corev1.NodeList {
		list := all
		list.Items, list.Continue = items, next
		return list
	}
	cases := map[string]func(r *http.Request) (int, any){
		"three pages": func(r *http.Request) (int, any) {
			switch r.URL.Query().Get("continue") {
			case "":
				return 200, page(all.Items[:3], "3")
			case "3":
				return 200, page(all.Items[3:5], "5")
			default:
				return 200, page(all.Items[5:], "")
			}
		},
		"a page that has expired": func(r *http.Request) (int, any) {
			switch q := r.URL.Query(); {
			case q.Get("continue") != "":
				return 410, problem(410, metav1.StatusReasonExpired, "The provided continue parameter is too old")
			case q.Get("limit") != "":
				gone := all.Items[1]
				gone.Name = "gone-meanwhile"
				return 200, page([]corev1.Node{all.Items[0], gone}, "2")
			default:
				return 200, all
			}
		},
	}
	for name, answer := range cases {
		t.Run(name, func(t *testing.T) {
			kubeconfig := apiServer(t, func(w http.ResponseWriter, r *http.Request) {
				code, body := noDRA(r)
				if r.URL.Path == nodesPath {
					code, body = answer(r)
				}
				respond(t, w, code, body)
			}, "good")
			got := scan(t, "", "--kubeconfig", kubeconfig)
			if diff := cmp.Diff(scan(t, string(homelabNodesText(t)), "-f", "-"), got); diff != "" {
				t.Errorf("inventory from a file and from a cluster (-file +cluster):\n%s", diff)
			}
		})
	}
}

func TestContextChoosesTheCluster(t *testing.T) {
	kubeconfig := apiServer(t, func(w http.ResponseWriter, r *http.Request) {
		code, body := noDRA(r)
		if r.URL.Path == nodesPath {
			code, body = 200, homelabNodes(t)
		}
		respond(t, w, code, body)
	}, "other")
	t.Setenv("KUBECONFIG", kubeconfig)
	if code, stdout, stderr := run(t, "", "scan", "--context", "good"); code != 0 || !strings.Contains(stdout, "4 GPU nodes") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func storedInventory() v1.GpuInventory {
	inv := *mixedFleet()
	inv.APIVersion, inv.Kind, inv.Name = v1.GroupVersion.String(), v1.Kind, "cluster"
	inv.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "gpu-inventory-operator"}}
	return inv
}

func TestStatusPrintsTheStoredInventory(t *testing.T) {
	var asked []string
	kubeconfig := apiServer(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		respond(t, w, 200, storedInventory())
	}, "good")
	for _, args := range [][]string{nil, {"status"}, {"status", "cluster"}} {
		code, stdout, stderr := run(t, "", append(args, "--kubeconfig", kubeconfig)...)
		if code != 0 || stderr != "" {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr)
		}
		if diff := cmp.Diff(table(mixedFleet(), tableOptions{width: 100, problemsOnly: true}), stdout); diff != "" {
			t.Errorf("%v (-want +got):\n%s", args, diff)
		}
	}
	_, stdout, _ := run(t, "", "status", "lab", "-o", "yaml", "--kubeconfig", kubeconfig)
	if !strings.Contains(stdout, "\n  name: cluster\n") || strings.Contains(stdout, "managedFields") {
		t.Errorf("stdout %s\nwant the object as stored, without managedFields", stdout)
	}
	want := []string{
		"GET /apis/homelab.youngju.dev/v1/gpuinventories/cluster", "GET /apis/homelab.youngju.dev/v1/gpuinventories/cluster",
		"GET /apis/homelab.youngju.dev/v1/gpuinventories/cluster", "GET /apis/homelab.youngju.dev/v1/gpuinventories/lab",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestAClusterThatCannotBeReadIsExitCode1(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	answering := func(code int, body any) string {
		return apiServer(t, func(w http.ResponseWriter, _ *http.Request) { respond(t, w, code, body) }, "good")
	}
	cases := map[string]struct {
		args []string
		want string
	}{
		"no kubeconfig":                  {[]string{"scan"}, `no cluster to read from: no kubeconfig found; "kubectl gpuinv scan -f FILE" reads files`},
		"a kubeconfig that is not there": {[]string{"--kubeconfig", "no-such-file"}, "read kubeconfig: stat no-such-file: no such file or directory"},
		"an unknown context":             {[]string{"--context", "nope", "--kubeconfig", answering(200, nil)}, `context "nope" does not exist`},
		"no permission": {[]string{"scan", "--kubeconfig", answering(403, problem(403, metav1.StatusReasonForbidden, `nodes is forbidden: User "x" cannot list resource "nodes"`))},
			`list nodes: nodes is forbidden: User "x" cannot list resource "nodes"`},
		"expired at once": {[]string{"scan", "--kubeconfig", answering(410, problem(410, metav1.StatusReasonExpired, "too old"))}, "list nodes: too old"},
		"no inventory of that name": {[]string{"status", "lab", "--kubeconfig", answering(404, problem(404, metav1.StatusReasonNotFound, `gpuinventories.homelab.youngju.dev "lab" not found`))},
			`get gpuinventory lab: gpuinventories.homelab.youngju.dev "lab" not found; is the operator installed? "kubectl gpuinv scan" does without`},
		"a server that does not answer": {[]string{"--context", "other", "--kubeconfig", answering(200, nil)}, "get gpuinventory cluster: Get \"http://127.0.0.1:1/"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, "", tc.args...)
			if code != 1 || stdout != "" {
				t.Errorf("exit code %d, stdout %q, want 1 and nothing", code, stdout)
			}
			if !strings.HasPrefix(stderr, "error: ") || !strings.Contains(stderr, tc.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("stderr %q, want one line with %q", stderr, tc.want)
			}
		})
	}
}
