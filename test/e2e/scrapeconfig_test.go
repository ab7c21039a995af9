package e2e

import (
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

// specOf finds the one object of a kind among manifests.
func specOf(manifests, kind string) map[string]any {
	GinkgoHelper()
	var found []map[string]any
	for document := range strings.SplitSeq(manifests, "\n---\n") {
		var object struct {
			Kind string         `json:"kind"`
			Spec map[string]any `json:"spec"`
		}
		Expect(yaml.Unmarshal([]byte(document), &object)).To(Succeed(), document)
		if object.Kind == kind {
			found = append(found, object.Spec)
		}
	}
	Expect(found).To(HaveLen(1), "the chart does not render one %s", kind)
	return found[0]
}

// serviceMonitor is what of a ServiceMonitor is translated. What the chart renders beyond that is an error, so that it is
// not tested in part.
type serviceMonitor struct {
	JobLabel          string `json:"jobLabel"`
	NamespaceSelector struct {
		MatchNames []string `json:"matchNames"`
	} `json:"namespaceSelector"`
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	Endpoints []struct {
		Port            string         `json:"port"`
		Path            string         `json:"path"`
		Scheme          string         `json:"scheme"`
		HonorLabels     bool           `json:"honorLabels"`
		BearerTokenFile string         `json:"bearerTokenFile"`
		TLSConfig       map[string]any `json:"tlsConfig"`
	} `json:"endpoints"`
}

// scrapeConfig makes of a ServiceMonitor what the Prometheus Operator would, as far as the chart uses it.
func scrapeConfig(spec map[string]any) map[string]any {
	GinkgoHelper()
	content, err := yaml.Marshal(spec)
	Expect(err).NotTo(HaveOccurred())
	var monitor serviceMonitor
	Expect(yaml.UnmarshalStrict(content, &monitor)).To(Succeed())
	Expect(monitor.Endpoints).To(HaveLen(1))
	endpoint := monitor.Endpoints[0]
	const service, slice = "__meta_kubernetes_service_", "__meta_kubernetes_endpointslice_"
	relabel := []map[string]any{keep(slice+"port_name", endpoint.Port)}
	for name, value := range monitor.Selector.MatchLabels {
		relabel = append(relabel, keep(service+"label_"+strings.NewReplacer(".", "_", "/", "_", "-", "_").Replace(name), value))
	}
	for source, target := range map[string]string{
		"__meta_kubernetes_namespace": "namespace", "__meta_kubernetes_pod_name": "pod", service + "name": "service", slice + "port_name": "endpoint",
	} {
		relabel = append(relabel, map[string]any{"source_labels": []string{source}, "target_label": target})
	}
	tls := map[string]any{}
	for from, to := range map[string]string{"insecureSkipVerify": "insecure_skip_verify", "serverName": "server_name"} {
		if value, ok := endpoint.TLSConfig[from]; ok {
			tls[to] = value
			delete(endpoint.TLSConfig, from)
		}
	}
	Expect(endpoint.TLSConfig).To(BeEmpty(), "TLS settings that are not translated")
	return map[string]any{
		"scheme": endpoint.Scheme, "metrics_path": endpoint.Path, "honor_labels": endpoint.HonorLabels, "tls_config": tls,
		"authorization":         map[string]any{"credentials_file": endpoint.BearerTokenFile},
		"kubernetes_sd_configs": []map[string]any{{"role": "endpointslice", "namespaces": map[string]any{"names": []string{namespace}}}},
		"relabel_configs":       relabel,
	}
}

func keep(label, value string) map[string]any {
	return map[string]any{"action": "keep", "source_labels": []string{label}, "regex": value}
}

// prometheusConfig has the job of the chart and its variations.
func prometheusConfig(scrape map[string]any) map[string]any {
	variation := func(name string, changes map[string]any) map[string]any {
		job := maps.Clone(scrape)
		job["job_name"] = name
		maps.Copy(job, changes)
		maps.DeleteFunc(job, func(_ string, value any) bool { return value == nil })
		return job
	}
	trusting := func(job string) map[string]any {
		return map[string]any{"tls_config": map[string]any{"ca_file": "/etc/prometheus/" + job, "server_name": metricsHost}}
	}
	return map[string]any{
		"global":     map[string]any{"scrape_interval": "2s", "scrape_timeout": "2s", "evaluation_interval": "2s"},
		"rule_files": []string{"/etc/prometheus/rules.yaml"},
		"scrape_configs": []map[string]any{
			variation(jobChart, nil),
			variation(jobNoToken, map[string]any{"authorization": nil}),
			variation(jobNoRight, map[string]any{"authorization": map[string]any{"credentials_file": nobodyToken}}),
			variation(jobPlainHTTP, map[string]any{"scheme": "http", "authorization": nil, "tls_config": nil}),
			variation(jobFirstCA, trusting(jobFirstCA)),
			variation(jobSecondCA, trusting(jobSecondCA)),
		},
	}
}
