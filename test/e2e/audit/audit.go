// Package audit reads the audit log of an API server and compares what a user did with what rules allow. It is pure: no
// client, and no file but the reader that it is given.
package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Request is what is told apart of the requests in a log. Two that differ in nothing else are one.
type Request struct {
	// Verb is the Kubernetes verb, such as watch.
	Verb string
	// Group and Resource say of what; Resource has the subresource, as in gpuinventories/status. It is empty for a path that
	// is no resource.
	Group, Resource string
	// Namespace and Name say which. The name of a list or a watch comes from its field selector.
	Namespace, Name string
	// Path is the path of what is no resource.
	Path string
	// Code is the HTTP status of the answer.
	Code int
}

// String is the request as a person would say it.
func (r Request) String() string {
	if r.Resource == "" {
		return fmt.Sprintf("%s %s: %d", r.Verb, r.Path, r.Code)
	}
	what := strings.Trim(r.Group+"/"+r.Resource, "/")
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Verb, what, strings.Trim(r.Namespace+"/"+r.Name, "/"))) + fmt.Sprintf(": %d", r.Code)
}

// Refused reports whether the API server found that the user may not do it, or did not know the user.
func (r Request) Refused() bool {
	return r.Code == http.StatusForbidden || r.Code == http.StatusUnauthorized
}

// event is the part of an audit.k8s.io/v1 Event that is read.
type event struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	RequestURI string    `json:"requestURI"`
	Received   time.Time `json:"requestReceivedTimestamp"`
	ObjectRef  *struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		APIGroup    string `json:"apiGroup"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// Read returns the different requests of a user that came after a time, sorted. The log has one Event to a line; a last line that is not
// complete is still being written and is left out.
func Read(log io.Reader, username string, since time.Time) ([]Request, error) {
	seen := map[Request]bool{}
	lines := bufio.NewReader(log)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read audit log: %w", err)
		}
		if !bytes.Contains(line, []byte(username)) {
			continue
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read audit log, line %d: %w", number, err)
		}
		if e.User.Username == username && !e.Received.Before(since) {
			seen[e.request()] = true
		}
	}
	requests := make([]Request, 0, len(seen))
	for r := range seen {
		requests = append(requests, r)
	}
	slices.SortFunc(requests, func(a, b Request) int { return cmp.Compare(a.String(), b.String()) })
	return requests, nil
}

func (e event) request() Request {
	r := Request{Verb: e.Verb, Code: e.ResponseStatus.Code}
	if e.ObjectRef == nil || e.ObjectRef.Resource == "" {
		r.Path, _, _ = strings.Cut(e.RequestURI, "?")
		return r
	}
	r.Group, r.Resource, r.Namespace, r.Name = e.ObjectRef.APIGroup, e.ObjectRef.Resource, e.ObjectRef.Namespace, e.ObjectRef.Name
	if e.ObjectRef.Subresource != "" {
		r.Resource += "/" + e.ObjectRef.Subresource
	}
	return r
}

// Grant is a rule and where it holds: in one namespace, or everywhere when that is empty.
type Grant struct {
	Namespace string
	Rule      rbacv1.PolicyRule
}

// Uncovered are the requests that no grant allows, whatever the API server answered. Paths that every user may get, for
// discovery, need none.
func Uncovered(requests []Request, grants []Grant) []Request {
	var out []Request
	for _, r := range requests {
		if !everybodys(r) && !slices.ContainsFunc(grants, func(g Grant) bool { return g.allows(r) }) {
			out = append(out, r)
		}
	}
	return out
}

// Unused are the verbs that the grants have and no request used, as "verb group/resource".
func Unused(requests []Request, grants []Grant) []string {
	used := map[string]bool{}
	for _, r := range requests {
		used[verbOf(r.Verb, r.Group, r.Resource)] = true
	}
	var out []string
	for _, g := range grants {
		for _, group := range g.Rule.APIGroups {
			for _, resource := range g.Rule.Resources {
				for _, verb := range g.Rule.Verbs {
					if key := verbOf(verb, group, resource); !used[key] {
						out = append(out, key)
					}
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func verbOf(verb, group, resource string) string {
	return verb + " " + strings.Trim(group+"/"+resource, "/")
}

// discovery is what the role system:discovery, which every authenticated user has, lets get.
var discovery = []string{"/api", "/apis", "/version", "/healthz", "/livez", "/readyz", "/openapi"}

func everybodys(r Request) bool {
	return r.Resource == "" && r.Verb == "get" && slices.ContainsFunc(discovery, func(path string) bool {
		return r.Path == path || strings.HasPrefix(r.Path, path+"/")
	})
}

func (g Grant) allows(r Request) bool {
	if !slices.Contains(g.Rule.Verbs, r.Verb) {
		return false
	}
	if r.Resource == "" {
		return slices.Contains(g.Rule.NonResourceURLs, r.Path)
	}
	return (g.Namespace == "" || g.Namespace == r.Namespace) &&
		slices.Contains(g.Rule.APIGroups, r.Group) &&
		slices.Contains(g.Rule.Resources, r.Resource) &&
		(len(g.Rule.ResourceNames) == 0 || slices.Contains(g.Rule.ResourceNames, r.Name))
}
