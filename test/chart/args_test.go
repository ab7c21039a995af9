package chart

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// flagDefinition matches the registration of a flag: its name and its default, which a flag of a type of its own lacks.
var flagDefinition = regexp.MustCompile(`fs\.\w*Var\(\S+, "([a-z-]+)",(?: (.+?),)?(?:\n| ")`)

// flagsOf are the names and default values, as Go expressions, of the flags that a file of the manager defines.
func flagsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	flags := map[string]string{}
	for _, match := range flagDefinition.FindAllStringSubmatch(string(readFile(t, "../../cmd/manager/"+file)), -1) {
		flags[match[1]] = match[2]
	}
	if len(flags) == 0 {
		t.Fatalf("no flag found in cmd/manager/%s: has the way of defining them changed?", file)
	}
	return flags
}

func flagName(arg string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name
}

func TestArgsAreFlagsOfTheManager(t *testing.T) {
	flags := flagsOf(t, "options.go")
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			for _, arg := range container(t, values).Args {
				if _, ok := flags[flagName(arg)]; !ok {
					t.Errorf("the manager has no flag for %q", arg)
				}
			}
		})
	}
}

func TestArgsOfTheTestAreFlagsOfTheCheck(t *testing.T) {
	flags := flagsOf(t, "check.go")
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			for _, pod := range pick[*corev1.Pod](renderTest(t, values)) {
				args := pod.Spec.Containers[0].Args
				if args[0] != "check" {
					t.Errorf("the manager runs as %q, want check", args[0])
				}
				for _, arg := range args[1:] {
					if _, ok := flags[flagName(arg)]; !ok {
						t.Errorf("the check has no flag for %q", arg)
					}
				}
			}
		})
	}
}

func TestArgsSayWhatTheValuesSay(t *testing.T) {
	for name, tc := range map[string]struct {
		values map[string]any
		want   string
	}{
		"by default": {
			want: "--configmap-name=gpu-node-status --inventory-file=/etc/gpu-inventory-operator/inventory/inventory.yaml " +
				"--metrics-bind-address=:8443 --metrics-secure=true --per-node-metrics-limit=1000 --allocation=true --dra=true " +
				"--log-level=info --log-format=json",
		},
		"everything else": {
			values: set("configMap.name", "cm", "inventory.create", false, "metrics.port", 8080, "metrics.secure", false,
				"metrics.perNodeLimit", 2000000, "log.level", "warn", "log.format", "text", "extraArgs", []any{"--leader-elect=true"},
				"dra.enabled", false, "allocation.enabled", false, "extraGpuResources", []any{"example.com/gpu", "-example.com/sub"}),
			want: "--configmap-name=cm --metrics-bind-address=:8080 --metrics-secure=false --per-node-metrics-limit=2000000 " +
				"--allocation=false --dra=false --extra-gpu-resources=example.com/gpu,-example.com/sub --log-level=warn " +
				"--log-format=text --leader-elect=true",
		},
		"namespaces": {
			values: set("metrics.namespaces", true, "inventory.create", false),
			want: "--configmap-name=gpu-node-status --metrics-bind-address=:8443 --metrics-secure=true --per-node-metrics-limit=1000 " +
				"--namespace-metrics --allocation=true --dra=true --log-level=info --log-format=json",
		},
		"a certificate": {
			values: set("metrics.certificate.secretName", "tls", "inventory.create", false),
			want: "--configmap-name=gpu-node-status --metrics-bind-address=:8443 --metrics-secure=true " +
				"--metrics-cert-dir=/etc/gpu-inventory-operator/metrics-cert --per-node-metrics-limit=1000 --allocation=true --dra=true " +
				"--log-level=info --log-format=json",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(container(t, tc.values).Args, " "); got != tc.want {
				t.Errorf("args = %s, want %s", got, tc.want)
			}
		})
	}
}

// The chart leaves these flags out and relies on their defaults.
func TestDefaultsOfTheManagerFitTheChart(t *testing.T) {
	flags := flagsOf(t, "options.go")
	objects := render(t, nil)
	ports := map[string]int32{}
	for _, port := range container(t, nil).Ports {
		ports[port.Name] = port.ContainerPort
	}
	for flag, want := range map[string]string{
		"namespace":                 `os.Getenv("POD_NAMESPACE")`,
		"leader-elect":              "true",
		"leader-election-id":        fmt.Sprintf("%q", leaseName(t, objects)),
		"health-probe-bind-address": fmt.Sprintf(`":%d"`, ports["health"]),
	} {
		if got := flags[flag]; got != want {
			t.Errorf("default of --%s = %s, the chart needs %s", flag, got, want)
		}
	}
	env := container(t, nil).Env[0]
	if env.Name != "POD_NAMESPACE" || env.ValueFrom.FieldRef.FieldPath != "metadata.namespace" {
		t.Errorf("env = %+v, want POD_NAMESPACE from the pod", env)
	}
}

func TestProbesServiceAndPolicyUsePortsOfTheContainer(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			c := container(t, values)
			ports := map[string]bool{}
			for _, port := range c.Ports {
				ports[port.Name] = true
			}
			for probe, path := range map[*corev1.Probe]string{c.LivenessProbe: "/healthz", c.ReadinessProbe: "/readyz"} {
				if probe.HTTPGet.Path != path || !ports[probe.HTTPGet.Port.StrVal] {
					t.Errorf("probe asks %s on port %s, want %s on one of %v", probe.HTTPGet.Path, probe.HTTPGet.Port.StrVal, path, names(ports))
				}
			}
			objects := render(t, values)
			for _, port := range only[*corev1.Service](t, objects).Spec.Ports {
				if !ports[port.TargetPort.StrVal] {
					t.Errorf("service port %s leads to %s, want one of %v", port.Name, port.TargetPort.StrVal, names(ports))
				}
			}
			for _, policy := range pick[*networkingv1.NetworkPolicy](objects) {
				for _, port := range policy.Spec.Ingress[0].Ports {
					if !ports[port.Port.StrVal] {
						t.Errorf("the policy lets in to %s, want one of %v", port.Port.StrVal, names(ports))
					}
				}
			}
		})
	}
}

// leaseName is the Lease that the Role lets the operator update.
func leaseName(t *testing.T, objects []client.Object) string {
	t.Helper()
	for grant := range grants(operatorRoles(objects)) {
		if name, ok := strings.CutPrefix(grant, "Role coordination.k8s.io leases/"); ok && strings.HasSuffix(name, ": update") {
			return strings.TrimSuffix(name, ": update")
		}
	}
	t.Fatal("no Lease may be updated")
	return ""
}

// serviceAccount is the name of the account that the pods run as.
func serviceAccount(t *testing.T, objects []client.Object) string {
	t.Helper()
	return only[*appsv1.Deployment](t, objects).Spec.Template.Spec.ServiceAccountName
}
