package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// requests counts requests that the API server has answered, by verb and resource, such as "APPLY gpuinventories/status".
type requests map[string]int

var label = regexp.MustCompile(`(\w+)="([^"]*)"`)

// requests returns the counts of the API server's own metrics, so that no proxy is needed between it and the operator.
func (c *cluster) requests(ctx context.Context) (requests, error) {
	text, err := c.core.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("scrape the API server: %w", err)
	}
	out := requests{}
	for line := range strings.Lines(string(text)) {
		labels, value, ok := strings.Cut(strings.TrimPrefix(line, "apiserver_request_total{"), "} ")
		if !ok || !strings.HasPrefix(line, "apiserver_request_total{") {
			continue
		}
		l := map[string]string{}
		for _, m := range label.FindAllStringSubmatch(labels, -1) {
			l[m[1]] = m[2]
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", line, err)
		}
		resource := l["resource"]
		if l["subresource"] != "" {
			resource += "/" + l["subresource"]
		}
		out[l["verb"]+" "+resource] += int(n)
	}
	return out, nil
}

// since returns the requests since an earlier count.
func (r requests) since(before requests) requests {
	out := requests{}
	for k, n := range r {
		if n -= before[k]; n != 0 {
			out[k] = n
		}
	}
	return out
}

// The operator writes by server-side apply, which the API server's own controllers do not use.

func (r requests) statusWrites() int    { return r["APPLY gpuinventories/status"] }
func (r requests) configMapWrites() int { return r["APPLY configmaps"] }
func (r requests) events() int          { return r["POST events"] + r["PATCH events"] }

// endedWatches counts the watches of Nodes and Pods that ended. They last at least 5 minutes, so none ends soon after a start
// unless something is wrong.
func (r requests) endedWatches() int { return r["WATCH nodes"] + r["WATCH pods"] }

// reads counts the requests that a reader with a watch does not need.
func (r requests) reads() (n int) {
	for _, resource := range []string{"gpuinventories", "gpuinventories/status", "nodes", "pods"} {
		n += r["GET "+resource] + r["LIST "+resource]
	}
	return n
}
