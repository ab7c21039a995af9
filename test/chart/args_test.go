package chart

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// flagDefinition matches the registration of a flag: its name and its default, which a flag of a type of its own lacks.
var flagDefinition = regexp.MustCompile(`fs\.\w*Var\(&o\.\w+, "([a-z-]+)",(?: (.+),)?\n`)

// managerFlags are the names and default values, as Go expressions, of the manager's flags.
func managerFlags(t *testing.T) map[string]string {
	t.Helper()
	flags := map[string]string{}
	for _, match := range flagDefinition.FindAllStringSubmatch(string(readFile(t, "../../cmd/manager/options.go")), -1) {
		flags[match[1]] = match[2]
	}
	if len(flags) == 0 {
		t.Fatal("no flag found in cmd/manager/options.go: has the way of defining them changed?")
	}
	return flags
}

func TestArgsAreFlagsOfTheManager(t *testing.T) {
	flags := managerFlags(t)
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			for _, arg := range container(t, values).Args {
				flag, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
				if _, ok := flags[flag]; !ok {
					t.Errorf("the manager has no flag for %q", arg)
				}
			}
		})
	}
}

func TestArgsSayWhatTheValuesSay(t *testing.T) {
	args := strings.Join(container(t, map[string]any{
		"configMap":  map[string]any{"name": "cm"},
		"metrics":    map[string]any{"perNodeLimit": 2000000},
		"log":        map[string]any{"level": "warn", "format": "text"},
		"extraArgs":  []any{"--log-level=debug"},
		"dra":        map[string]any{"enabled": false},
		"allocation": map[string]any{"enabled": false},

		"extraGpuResources": []any{"example.com/gpu", "-example.com/sub"},
	}).Args, " ")
	want := "--configmap-name=cm --per-node-metrics-limit=2000000 --allocation=false --dra=false --extra-gpu-resources=example.com/gpu,-example.com/sub --log-level=warn --log-format=text --log-level=debug"
	if args != want {
		t.Errorf("args = %s, want %s", args, want)
	}
}

func TestNamespaceMetricsNeedAllocation(t *testing.T) {
	on := map[string]any{"metrics": map[string]any{"namespaces": true}}
	if args := strings.Join(container(t, on).Args, " "); !strings.Contains(args, "--namespace-metrics") {
		t.Errorf("args = %s, want --namespace-metrics in them", args)
	}
}

// The chart leaves these flags out and relies on their defaults.
func TestDefaultsOfTheManagerFitTheChart(t *testing.T) {
	flags := managerFlags(t)
	objects := render(t, nil)
	ports := map[string]int32{}
	for _, port := range container(t, nil).Ports {
		ports[port.Name] = port.ContainerPort
	}
	for flag, want := range map[string]string{
		"namespace":                 `os.Getenv("POD_NAMESPACE")`,
		"leader-elect":              "true",
		"leader-election-id":        fmt.Sprintf("%q", leaseName(t, objects)),
		"metrics-bind-address":      fmt.Sprintf(`":%d"`, ports["metrics"]),
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

func TestProbesAndServiceUsePortsOfTheContainer(t *testing.T) {
	c := container(t, nil)
	ports := map[string]bool{}
	for _, port := range c.Ports {
		ports[port.Name] = true
	}
	for probe, path := range map[*corev1.Probe]string{c.LivenessProbe: "/healthz", c.ReadinessProbe: "/readyz"} {
		if probe.HTTPGet.Path != path || !ports[probe.HTTPGet.Port.StrVal] {
			t.Errorf("probe asks %s on port %s, want %s on one of %v", probe.HTTPGet.Path, probe.HTTPGet.Port.StrVal, path, names(ports))
		}
	}
	for _, port := range only[*corev1.Service](t, render(t, nil)).Spec.Ports {
		if !ports[port.TargetPort.StrVal] {
			t.Errorf("service port %s leads to %s, want one of %v", port.Name, port.TargetPort.StrVal, names(ports))
		}
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
