package chart

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

const metricsHost = "gpu-inventory-operator-metrics.gpu-inventory.svc"

// endpoint is the one endpoint of the monitor.
func endpoint(t *testing.T, values map[string]any, kind, list string) map[string]any {
	t.Helper()
	endpoints := onlyPlain(t, values, kind)[list].([]any)
	if len(endpoints) != 1 {
		t.Fatalf("the %s has %d endpoints, want 1", kind, len(endpoints))
	}
	return endpoints[0].(map[string]any)
}

func TestServiceMonitorScrapesAsTheOperatorServes(t *testing.T) {
	const token = "/var/run/secrets/kubernetes.io/serviceaccount/token"
	ca := func(secret string) map[string]any {
		return map[string]any{"ca": map[string]any{"secret": map[string]any{"name": secret, "key": "ca.crt"}}, "serverName": metricsHost}
	}
	for name, tc := range map[string]struct {
		values map[string]any
		want   map[string]any
	}{
		"a self-signed certificate cannot be verified": {
			set(), map[string]any{"scheme": "https", "bearerTokenFile": token, "tlsConfig": map[string]any{"insecureSkipVerify": true}},
		},
		"cert-manager's is verified by its CA": {
			set("metrics.certificate.certManager.enabled", true),
			map[string]any{"scheme": "https", "bearerTokenFile": token, "tlsConfig": ca("gpu-inventory-operator-metrics-tls")},
		},
		"that of a Secret is verified by its CA": {
			set("metrics.certificate.secretName", "mine"), map[string]any{"scheme": "https", "bearerTokenFile": token, "tlsConfig": ca("mine")},
		},
		"plain metrics need neither TLS nor a token": {set("metrics.secure", false), map[string]any{"scheme": "http"}},
		"settings of the values are used as they are": {
			set("metrics.serviceMonitor.tlsConfig", map[string]any{"serverName": "x"}, "metrics.serviceMonitor.interval", "30s",
				"metrics.serviceMonitor.authorization", map[string]any{"credentials": map[string]any{"name": "t", "key": "token"}}),
			map[string]any{
				"scheme": "https", "interval": "30s", "tlsConfig": map[string]any{"serverName": "x"},
				"authorization": map[string]any{"credentials": map[string]any{"name": "t", "key": "token"}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			merge(tc.values, "metrics", "serviceMonitor", "enabled", true)
			tc.want["port"], tc.want["path"], tc.want["honorLabels"] = "metrics", "/metrics", true
			if diff := cmp.Diff(tc.want, endpoint(t, tc.values, "ServiceMonitor", "endpoints")); diff != "" {
				t.Errorf("endpoint (-want +got):\n%s", diff)
			}
		})
	}
}

// merge sets one value in nested maps, the path first.
func merge(values map[string]any, pathAndValue ...any) {
	last := len(pathAndValue) - 2
	for _, key := range pathAndValue[:last] {
		if _, ok := values[key.(string)]; !ok {
			values[key.(string)] = map[string]any{}
		}
		values = values[key.(string)].(map[string]any)
	}
	values[pathAndValue[last].(string)] = pathAndValue[last+1]
}

func TestPodMonitorScrapesAsTheOperatorServes(t *testing.T) {
	credentials := map[string]any{"credentials": map[string]any{"name": "gpu-inventory-scraper", "key": "token"}}
	want := map[string]any{
		"port": "metrics", "path": "/metrics", "scheme": "https", "honorLabels": true, "interval": "30s",
		"authorization": credentials, "tlsConfig": map[string]any{"insecureSkipVerify": true},
	}
	if diff := cmp.Diff(want, endpoint(t, valueFiles(t)["podmonitor"], "PodMonitor", "podMetricsEndpoints")); diff != "" {
		t.Errorf("endpoint (-want +got):\n%s", diff)
	}
	plain := endpoint(t, set("metrics.secure", false, "metrics.podMonitor.enabled", true), "PodMonitor", "podMetricsEndpoints")
	if diff := cmp.Diff(map[string]any{"port": "metrics", "path": "/metrics", "scheme": "http", "honorLabels": true}, plain); diff != "" {
		t.Errorf("endpoint of plain metrics (-want +got):\n%s", diff)
	}
}

func TestMonitorsSelectTheirTargets(t *testing.T) {
	for name, values := range valueFiles(t) {
		objects := render(t, values)
		for kind, labels := range map[string]map[string]string{
			"ServiceMonitor": only[*corev1.Service](t, objects).Labels,
			"PodMonitor":     only[*appsv1.Deployment](t, objects).Spec.Template.Labels,
		} {
			for _, monitor := range plain(objects, kind) {
				spec := monitor.Object["spec"].(map[string]any)
				for label, value := range spec["selector"].(map[string]any)["matchLabels"].(map[string]any) {
					if labels[label] != value {
						t.Errorf("%s: the %s selects %s=%s, the target has %q", name, kind, label, value, labels[label])
					}
				}
				want := []any{only[*appsv1.Deployment](t, objects).Namespace}
				if diff := cmp.Diff(want, spec["namespaceSelector"].(map[string]any)["matchNames"]); diff != "" {
					t.Errorf("%s: namespaces of the %s (-want +got):\n%s", name, kind, diff)
				}
			}
		}
	}
}

func TestCertificateIsForTheNameOfTheServiceAndMountedForTheOperator(t *testing.T) {
	values := set("metrics.certificate.certManager.enabled", true)
	spec := onlyPlain(t, values, "Certificate")
	if names := spec["dnsNames"].([]any); !slices.Contains(names, any(metricsHost)) {
		t.Errorf("dnsNames = %v, want %s in them", names, metricsHost)
	}
	issuer := plain(render(t, values), "Issuer")
	if len(issuer) != 1 || spec["issuerRef"].(map[string]any)["name"] != issuer[0].GetName() {
		t.Errorf("issued by %v, want the Issuer of the chart", spec["issuerRef"])
	}
	pod := only[*appsv1.Deployment](t, render(t, values)).Spec.Template.Spec
	if got := pod.Volumes[1].Secret.SecretName; got != spec["secretName"] {
		t.Errorf("mounted Secret = %s, want %s", got, spec["secretName"])
	}
	if want := "--metrics-cert-dir=" + pod.Containers[0].VolumeMounts[1].MountPath; !slices.Contains(pod.Containers[0].Args, want) {
		t.Errorf("args = %v, want %s in them", pod.Containers[0].Args, want)
	}

	mine := set("metrics.certificate.certManager.enabled", true, "metrics.certificate.certManager.issuerRef", map[string]any{"name": "ca", "kind": "ClusterIssuer"})
	if got := onlyPlain(t, mine, "Certificate")["issuerRef"].(map[string]any)["name"]; got != "ca" {
		t.Errorf("issued by %v, want ca", got)
	}
	if got := plain(render(t, mine), "Issuer"); len(got) != 0 {
		t.Errorf("rendered %d Issuers, want none", len(got))
	}
}

func TestReadersAreBoundToTheRoleOfThoseWhoScrape(t *testing.T) {
	objects := render(t, set("metrics.readers", []any{map[string]any{"name": "prometheus", "namespace": "monitoring"}}))
	binding := named[*rbacv1.ClusterRoleBinding](t, objects, releaseName+"-metrics-reader")
	want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "prometheus", Namespace: "monitoring"}}
	if diff := cmp.Diff(want, binding.Subjects); diff != "" {
		t.Errorf("subjects (-want +got):\n%s", diff)
	}
	role := named[*rbacv1.ClusterRole](t, objects, binding.RoleRef.Name)
	if diff := cmp.Diff([]rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}, role.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestNetworkPolicyLetsInToMetricsAndProbesOnly(t *testing.T) {
	policy := only[*networkingv1.NetworkPolicy](t, render(t, set("networkPolicy.enabled", true)))
	var ports []string
	for _, rule := range policy.Spec.Ingress {
		if len(rule.From) != 0 {
			t.Errorf("from = %v, want everybody by default", rule.From)
		}
		for _, port := range rule.Ports {
			ports = append(ports, port.Port.StrVal)
		}
	}
	if diff := cmp.Diff([]string{"metrics", "health"}, ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]networkingv1.PolicyType{networkingv1.PolicyTypeIngress}, policy.Spec.PolicyTypes); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}

func TestNetworkPolicyLetsOutToDNSAndTheAPIServerOnly(t *testing.T) {
	policy := only[*networkingv1.NetworkPolicy](t, render(t, set("networkPolicy.enabled", true, "networkPolicy.egress.enabled", true)))
	var ports []int32
	for _, rule := range policy.Spec.Egress {
		for _, port := range rule.Ports {
			ports = append(ports, port.Port.IntVal)
		}
	}
	if diff := cmp.Diff([]int32{53, 53, 443, 6443}, ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if !slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress) {
		t.Errorf("types = %v, want Egress among them", policy.Spec.PolicyTypes)
	}
	policy = only[*networkingv1.NetworkPolicy](t, render(t, valueFiles(t)["everything"]))
	if got := policy.Spec.Egress[1].To; len(got) != 2 || got[0].IPBlock.CIDR != "10.96.0.1/32" {
		t.Errorf("to = %v, want the CIDRs of the values", got)
	}
}

// Whoever may scrape is narrowed to some peers: the pod of helm test has to be one of them.
func TestNetworkPolicyLetsTheTestIn(t *testing.T) {
	values := valueFiles(t)["everything"]
	from := only[*networkingv1.NetworkPolicy](t, render(t, values)).Spec.Ingress[0].From
	labels := only[*corev1.Pod](t, renderTest(t, values)).Labels
	selector := from[len(from)-1].PodSelector.MatchLabels
	if len(selector) == 0 {
		t.Fatal("the last peer selects every pod")
	}
	for label, value := range selector {
		if labels[label] != value {
			t.Errorf("the policy lets in %s=%s, the pod of helm test has %q", label, value, labels[label])
		}
	}
	values = set("networkPolicy.enabled", true, "networkPolicy.metricsFrom", []any{map[string]any{"podSelector": map[string]any{}}}, "tests.enabled", false)
	if from := only[*networkingv1.NetworkPolicy](t, render(t, values)).Spec.Ingress[0].From; len(from) != 1 {
		t.Errorf("from = %v, want the one peer of the values", from)
	}
}

func TestHelmTestAsksTheServiceAndLeavesNothingBehind(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			rel, err := template(t, values)
			if err != nil {
				t.Fatal(err)
			}
			for _, hook := range rel.Hooks {
				if len(hook.Events) != 1 || hook.Events[0] != "test" {
					t.Errorf("%s is a hook for %v, want test only", hook.Path, hook.Events)
				}
				if len(hook.DeletePolicies) != 3 {
					t.Errorf("%s %s: delete policies %v, want before it is created and after it has ended either way", hook.Kind, hook.Name, hook.DeletePolicies)
				}
			}
			for _, pod := range pick[*corev1.Pod](renderTest(t, values)) {
				assertAsksTheService(t, pod, only[*corev1.Service](t, render(t, values)))
			}
		})
	}
}

func assertAsksTheService(t *testing.T, pod *corev1.Pod, service *corev1.Service) {
	t.Helper()
	args := strings.Join(pod.Spec.Containers[0].Args, " ")
	host := service.Name + "." + service.Namespace + ".svc:"
	for _, port := range service.Spec.Ports {
		want := host + strconv.Itoa(int(port.Port)) + map[string]string{"metrics": "/metrics", "health": "/readyz"}[port.Name]
		if !strings.Contains(args, want) {
			t.Errorf("args = %s, want %s in them", args, want)
		}
	}
	if pod.Spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("restartPolicy = %s, want Never: Helm waits for the pod to end", pod.Spec.RestartPolicy)
	}
}
