package audit

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

const operator = "system:serviceaccount:gpu:operator"

// start is when the requests of the cases came.
var start = time.Date(2026, time.July, 10, 15, 0, 0, 500000, time.UTC)

// line is an Event as an API server writes it.
func line(user, verb, uri, object, code string) string {
	return `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete","requestURI":"` + uri +
		`","verb":"` + verb + `","user":{"username":"` + user + `","groups":["system:authenticated"]},"requestReceivedTimestamp":"2026-07-10T15:00:00.000500Z","objectRef":` + object +
		`,"responseStatus":{"metadata":{},"code":` + code + "}}\n"
}

func TestRead(t *testing.T) {
	nodes := `{"resource":"nodes","apiVersion":"v1"}`
	status := `{"resource":"gpuinventories","name":"cluster","apiGroup":"homelab.youngju.dev","apiVersion":"v1","subresource":"status"}`
	cases := map[string]struct {
		log  string
		want []Request
	}{
		"nothing": {want: []Request{}},
		"the same request twice is one": {
			log:  strings.Repeat(line(operator, "list", "/api/v1/nodes?limit=500", nodes, "200"), 2),
			want: []Request{{Verb: "list", Resource: "nodes", Code: 200}},
		},
		"another answer makes another": {
			log: line(operator, "list", "/api/v1/nodes", nodes, "200") + line(operator, "list", "/api/v1/nodes", nodes, "403"),
			want: []Request{
				{Verb: "list", Resource: "nodes", Code: 200},
				{Verb: "list", Resource: "nodes", Code: 403},
			},
		},
		"a subresource": {
			log:  line(operator, "patch", "/apis/x", status, "200"),
			want: []Request{{Verb: "patch", Group: "homelab.youngju.dev", Resource: "gpuinventories/status", Name: "cluster", Code: 200}},
		},
		"a path, without its query": {
			log:  line(operator, "get", "/apis?timeout=32s", "null", "200"),
			want: []Request{{Verb: "get", Path: "/apis", Code: 200}},
		},
		"another user, also one whose name begins the same": {
			log:  line("admin", "list", "/api/v1/nodes", nodes, "200") + line(operator+"2", "list", "/api/v1/nodes", nodes, "200"),
			want: []Request{},
		},
		"a line that is still being written": {
			log:  line(operator, "list", "/api/v1/nodes", nodes, "200") + line(operator, "watch", "/api/v1/nodes", nodes, "200")[:80],
			want: []Request{{Verb: "list", Resource: "nodes", Code: 200}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Read(strings.NewReader(tc.log), operator, start)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Read() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadLeavesOutWhatCameBefore(t *testing.T) {
	log := line(operator, "list", "/api/v1/nodes", `{"resource":"nodes"}`, "200")
	got, err := Read(strings.NewReader(log), operator, start.Add(time.Microsecond))
	if err != nil || len(got) > 0 {
		t.Errorf("Read() = %v, %v, want no request", got, err)
	}
}

func TestReadNamesTheLineThatIsNoEvent(t *testing.T) {
	_, err := Read(strings.NewReader("{}\n"+operator+"\n"), operator, start)
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("Read() = %v, want an error that names line 2", err)
	}
}

// grants are those of the chart, as far as the cases need them.
var grants = []Grant{
	{Rule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list", "watch"}}},
	{Rule: rbacv1.PolicyRule{APIGroups: []string{"example.dev"}, Resources: []string{"things/status"}, Verbs: []string{"patch"}}},
	{Rule: rbacv1.PolicyRule{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	{Namespace: "gpu", Rule: rbacv1.PolicyRule{
		APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"mine"}, Verbs: []string{"patch"},
	}},
}

func TestUncovered(t *testing.T) {
	cases := map[string]struct {
		request Request
		covered bool
	}{
		"granted":                          {Request{Verb: "list", Resource: "nodes"}, true},
		"another verb":                     {Request{Verb: "get", Resource: "nodes"}, false},
		"another group":                    {Request{Verb: "list", Group: "metrics.k8s.io", Resource: "nodes"}, false},
		"a subresource":                    {Request{Verb: "patch", Group: "example.dev", Resource: "things/status"}, true},
		"the resource of a subresource":    {Request{Verb: "patch", Group: "example.dev", Resource: "things"}, false},
		"the name and the namespace":       {Request{Verb: "patch", Resource: "configmaps", Namespace: "gpu", Name: "mine"}, true},
		"the name in another namespace":    {Request{Verb: "patch", Resource: "configmaps", Namespace: "x", Name: "mine"}, false},
		"another name in the namespace":    {Request{Verb: "patch", Resource: "configmaps", Namespace: "gpu", Name: "x"}, false},
		"no name where a name is required": {Request{Verb: "patch", Resource: "configmaps", Namespace: "gpu"}, false},
		"discovery":                        {Request{Verb: "get", Path: "/apis/apps/v1"}, true},
		"a path that begins like one":      {Request{Verb: "get", Path: "/apisandmore"}, false},
		"a write to a path for discovery":  {Request{Verb: "create", Path: "/apis"}, false},
		"a granted path":                   {Request{Verb: "get", Path: "/metrics"}, true},
		"a path of its own":                {Request{Verb: "get", Path: "/debug/pprof"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := len(Uncovered([]Request{tc.request}, grants)) == 0
			if got != tc.covered {
				t.Errorf("Uncovered(%v): covered = %t, want %t", tc.request, got, tc.covered)
			}
		})
	}
}

func TestUnusedAreTheVerbsThatNoRequestHad(t *testing.T) {
	got := Unused([]Request{{Verb: "watch", Resource: "nodes"}, {Verb: "patch", Resource: "configmaps"}}, grants)
	want := []string{"list nodes", "patch example.dev/things/status"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Unused() (-want +got):\n%s", diff)
	}
}

func TestARequestReadsAsAPersonWouldSayIt(t *testing.T) {
	cases := map[string]Request{
		"list nodes: 200": {Verb: "list", Resource: "nodes", Code: 200},
		"patch example.dev/things/status cluster: 403": {Verb: "patch", Group: "example.dev", Resource: "things/status", Name: "cluster", Code: 403},
		"watch configmaps gpu/mine: 200":               {Verb: "watch", Resource: "configmaps", Namespace: "gpu", Name: "mine", Code: 200},
		"get /apis: 200":                               {Verb: "get", Path: "/apis", Code: 200},
	}
	for want, request := range cases {
		if got := request.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}
