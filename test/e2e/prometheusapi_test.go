package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ask asks the API of Prometheus, through that of the cluster.
func ask(ctx context.Context, path string, params map[string]string, data any) error {
	request := clientset.CoreV1().RESTClient().Get().Namespace(monitoring).Resource("pods").Name(prometheus+":9090").SubResource("proxy").Suffix("api/v1", path)
	for name, value := range params {
		request = request.Param(name, value)
	}
	body, err := request.DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("ask Prometheus for %s: %w: %s", path, err, body)
	}
	return json.Unmarshal(body, &struct{ Data any }{data})
}

// target is a replica as a job of Prometheus sees it.
type target struct {
	Labels    map[string]string
	Health    string
	LastError string
}

// targets are those of a job, in the order of the pods.
func targets(ctx context.Context, job string) func() ([]target, error) {
	return func() ([]target, error) {
		var data struct{ ActiveTargets []target }
		err := ask(ctx, "targets", nil, &data)
		out := slices.DeleteFunc(data.ActiveTargets, func(t target) bool { return t.Labels["job"] != job })
		slices.SortFunc(out, func(a, b target) int { return strings.Compare(a.Labels["pod"], b.Labels["pod"]) })
		return out, err
	}
}

// query asks for an expression with one value: "" where it has none.
func query(ctx context.Context, expression string) func() (string, error) {
	return func() (string, error) {
		var data struct{ Result []struct{ Value [2]any } }
		err := ask(ctx, "query", map[string]string{"query": expression}, &data)
		if len(data.Result) != 1 {
			return "", err
		}
		return fmt.Sprint(data.Result[0].Value[1]), err
	}
}

// rule is a rule that Prometheus has loaded.
type rule struct{ Name, Health, LastError string }

func loadedRules(ctx context.Context) func() ([]rule, error) {
	return func() ([]rule, error) {
		var data struct{ Groups []struct{ Rules []rule } }
		err := ask(ctx, "rules", nil, &data)
		var out []rule
		for _, g := range data.Groups {
			out = append(out, g.Rules...)
		}
		return out, err
	}
}

// alert is an alert that is pending or fires.
type alert struct {
	Name   string
	State  string
	Labels map[string]string
}

func alerts(ctx context.Context) func() ([]alert, error) {
	return func() ([]alert, error) {
		var data struct{ Alerts []alert }
		err := ask(ctx, "alerts", nil, &data)
		for i := range data.Alerts {
			data.Alerts[i].Name = data.Alerts[i].Labels["alertname"]
		}
		return data.Alerts, err
	}
}
