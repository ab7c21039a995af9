package chart

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// own renders what the chart itself makes: without the objects that the values bring, and with those of helm test.
func own(t *testing.T, values map[string]any) []client.Object {
	t.Helper()
	values = maps.Clone(values)
	delete(values, "extraObjects")
	return append(render(t, values), renderTest(t, values)...)
}

func TestEveryObjectDecodesAndCarriesTheStandardLabels(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			for _, o := range own(t, values) {
				for _, label := range []string{"helm.sh/chart", "app.kubernetes.io/name", "app.kubernetes.io/version"} {
					if o.GetLabels()[label] == "" {
						t.Errorf("%T %s has no label %s", o, o.GetName(), label)
					}
				}
				want := map[string]string{"app.kubernetes.io/instance": releaseName, "app.kubernetes.io/managed-by": "Helm"}
				for label, value := range want {
					if got := o.GetLabels()[label]; got != value {
						t.Errorf("%T %s: label %s = %q, want %q", o, o.GetName(), label, got, value)
					}
				}
			}
		})
	}
}

func TestEveryObjectCarriesTheCommonLabelsAndAnnotationsAndIsInTheNamespace(t *testing.T) {
	// The rules and the dashboard may be elsewhere by values of their own.
	values := valueFiles(t)["everything"]
	elsewhere := map[string]string{"PrometheusRule": "monitoring", "Dashboard": "grafana"}
	objects := own(t, values)
	deployment := only[*appsv1.Deployment](t, objects)
	template := &corev1.PodTemplate{ObjectMeta: deployment.Spec.Template.ObjectMeta}
	template.Name, template.Namespace = "template of the pods", deployment.Namespace
	manifest := inventoryManifest(t, objects)
	for _, o := range append(objects, template, manifest) {
		if got := o.GetLabels()["example.com/team"]; got != "platform" {
			t.Errorf("%T %s: common label = %q, want platform", o, o.GetName(), got)
		}
		if got := o.GetAnnotations()["example.com/owner"]; got != "platform" {
			t.Errorf("%T %s: common annotation = %q, want platform", o, o.GetName(), got)
		}
		namespaces := []string{"", "gpu-system"}
		for _, namespace := range elsewhere {
			namespaces = append(namespaces, namespace)
		}
		if !slices.Contains(namespaces, o.GetNamespace()) {
			t.Errorf("%T %s is in the namespace %q, want one of %v", o, o.GetName(), o.GetNamespace(), namespaces)
		}
	}
}

func TestTheChartsOwnLabelsWinOverThoseOfTheValues(t *testing.T) {
	mine := map[string]any{"app.kubernetes.io/name": "mine", "app.kubernetes.io/component": "mine"}
	objects := render(t, set("commonLabels", mine, "podLabels", mine, "metrics.service.labels", mine))
	pod := only[*appsv1.Deployment](t, objects).Spec.Template.Labels
	if got := pod["app.kubernetes.io/name"]; got != releaseName {
		t.Errorf("the pods' name label = %q, want %q", got, releaseName)
	}
	service := only[*corev1.Service](t, objects)
	if got := service.Labels["app.kubernetes.io/component"]; got != "metrics" {
		t.Errorf("the service's component label = %q, want metrics", got)
	}
}

func TestNamesThatLookLikeNumbersStayText(t *testing.T) {
	values := set("fullnameOverride", "1", "nameOverride", "7", "namespaceOverride", "8", "priorityClassName", "2", "configMap.name", "3",
		"inventory.name", "4", "inventory.note", "5", "serviceAccount.name", "6", "metrics.certificate.certManager.enabled", true)
	inventoryManifest(t, own(t, values))
}

func TestALongNameLeavesRoomForItsSuffixes(t *testing.T) {
	objects := own(t, set("fullnameOverride", strings.Repeat("long", 20), "nameOverride", strings.Repeat("n", 70)))
	if name := only[*corev1.Service](t, objects).Name; len(name) > 63 || !strings.HasSuffix(name, "-metrics") {
		t.Errorf("the service is %s, want a name of at most 63 characters that ends in -metrics", name)
	}
	for _, o := range objects {
		for label, value := range o.GetLabels() {
			if len(value) > 63 {
				t.Errorf("%T %s: label %s has %d characters, want at most 63", o, o.GetName(), label, len(value))
			}
		}
	}
}

func TestRenderingTwiceGivesTheSame(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(manifests(t, values), manifests(t, values)); diff != "" {
				t.Errorf("second rendering (-first +second):\n%s", diff)
			}
		})
	}
}

func TestSelectorsMatchThePodsAndNotThePodOfTheTest(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			objects := render(t, values)
			deployment := only[*appsv1.Deployment](t, objects)
			selectors := map[string]map[string]string{
				"deployment": deployment.Spec.Selector.MatchLabels,
				"service":    only[*corev1.Service](t, objects).Spec.Selector,
			}
			for _, constraint := range deployment.Spec.Template.Spec.TopologySpreadConstraints {
				selectors["topologySpreadConstraints"] = constraint.LabelSelector.MatchLabels
			}
			for _, policy := range pick[*networkingv1.NetworkPolicy](objects) {
				selectors["networkPolicy"] = policy.Spec.PodSelector.MatchLabels
			}
			for _, budget := range pick[*policyv1.PodDisruptionBudget](objects) {
				selectors["podDisruptionBudget"] = budget.Spec.Selector.MatchLabels
			}
			for of, selector := range selectors {
				if len(selector) == 0 {
					t.Errorf("selector of %s is empty", of)
				}
				for label, value := range selector {
					if got := deployment.Spec.Template.Labels[label]; got != value {
						t.Errorf("selector of %s wants label %s=%s, pods have %q", of, label, value, got)
					}
				}
				for _, pod := range pick[*corev1.Pod](renderTest(t, values)) {
					if labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels)) {
						t.Errorf("selector of %s matches the pod of helm test", of)
					}
				}
			}
		})
	}
}

func TestDisruptionBudgetComesWithMoreThanOneReplica(t *testing.T) {
	for replicas, want := range map[int]int{0: 0, 1: 0, 2: 1, 5: 1} {
		budgets := pick[*policyv1.PodDisruptionBudget](render(t, map[string]any{"replicaCount": replicas}))
		if len(budgets) != want {
			t.Errorf("%d replicas: %d budgets, want %d", replicas, len(budgets), want)
		}
		for _, b := range budgets {
			if got := b.Spec.MaxUnavailable.IntValue(); got != 1 {
				t.Errorf("%d replicas: maxUnavailable = %d, want 1", replicas, got)
			}
		}
	}
}

func TestDisruptionBudgetIsOffByOneValueAndTakesAPercentage(t *testing.T) {
	if got := pick[*policyv1.PodDisruptionBudget](render(t, set("podDisruptionBudget.enabled", false))); len(got) != 0 {
		t.Errorf("rendered %d budgets, want none", len(got))
	}
	budget := only[*policyv1.PodDisruptionBudget](t, render(t, set("podDisruptionBudget.maxUnavailable", "50%")))
	if got := budget.Spec.MaxUnavailable.String(); got != "50%" {
		t.Errorf("maxUnavailable = %s, want 50%%", got)
	}
}

func TestPodsSpreadOverNodesByDefault(t *testing.T) {
	constraint := only[*appsv1.Deployment](t, render(t, nil)).Spec.Template.Spec.TopologySpreadConstraints[0]
	want := corev1.TopologySpreadConstraint{
		TopologyKey: "kubernetes.io/hostname", MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway,
		MatchLabelKeys: []string{"pod-template-hash"}, LabelSelector: constraint.LabelSelector,
	}
	if diff := cmp.Diff(want, constraint); diff != "" {
		t.Errorf("constraint (-want +got):\n%s", diff)
	}
	selector := map[string]any{"matchLabels": map[string]any{"a": "b"}}
	mine := map[string]any{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector}
	values := set("topologySpreadConstraints", []any{mine})
	got := only[*appsv1.Deployment](t, render(t, values)).Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels
	if diff := cmp.Diff(map[string]string{"a": "b"}, got); diff != "" {
		t.Errorf("selector (-values +got):\n%s", diff)
	}
}

func TestImage(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	appVersion := loadChart(t).Metadata.AppVersion
	for name, tc := range map[string]struct {
		image    map[string]any
		registry string
		want     string
	}{
		"the tag is the appVersion by default":       {image: map[string]any{"repository": "r/i"}, want: "r/i:" + appVersion},
		"a tag is taken":                             {image: map[string]any{"repository": "r/i", "tag": "v2"}, want: "r/i:v2"},
		"a digest wins over a tag":                   {image: map[string]any{"repository": "r/i", "tag": "v2", "digest": digest}, want: "r/i@" + digest},
		"a mirror replaces the registry":             {image: map[string]any{"tag": "v2"}, registry: "mirror:5000", want: "mirror:5000/gpu-inventory/gpu-inventory-operator:v2"},
		"a mirror may have a path":                   {image: map[string]any{"repository": "localhost/i", "tag": "v2"}, registry: "m.io/x", want: "m.io/x/i:v2"},
		"a repository without a registry is kept":    {image: map[string]any{"repository": "r/i", "tag": "v2"}, registry: "m.io", want: "m.io/r/i:v2"},
		"a repository of one part is kept":           {image: map[string]any{"repository": "i", "tag": "v2"}, registry: "m.io", want: "m.io/i:v2"},
		"a mirror keeps the digest of what it holds": {image: map[string]any{"repository": "g.io/i", "digest": digest}, registry: "m.io", want: "m.io/i@" + digest},
	} {
		t.Run(name, func(t *testing.T) {
			values := set("image", tc.image, "global.imageRegistry", tc.registry)
			if got := container(t, values).Image; got != tc.want {
				t.Errorf("image = %q, want %q", got, tc.want)
			}
			if got := only[*corev1.Pod](t, renderTest(t, values)).Spec.Containers[0].Image; got != tc.want {
				t.Errorf("image of helm test = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestGOMEMLIMITLeavesRoomBelowTheMemoryLimit(t *testing.T) {
	for limit, want := range map[any]string{
		"256Mi":    "241591910",
		"1Gi":      "966367641",
		"500M":     "450000000",
		"65536Ki":  "60397977",
		"70000000": "63000000",
		70000000:   "63000000",
		"1.5Gi":    "", // not a whole number
		"1Ti":      "", // not a unit that a limit of this program has
		"":         "",
	} {
		resources := map[string]any{"limits": map[string]any{"memory": limit}}
		if limit == "" {
			resources = map[string]any{"limits": map[string]any{"memory": nil}}
		}
		if got := goMemLimit(t, set("resources", resources)); got != want {
			t.Errorf("limits.memory %v: GOMEMLIMIT = %q, want %q", limit, got, want)
		}
	}
	mine := []any{map[string]any{"name": "GOMEMLIMIT", "value": "1GiB"}}
	if got := goMemLimit(t, set("extraEnv", mine)); got != "1GiB" {
		t.Errorf("GOMEMLIMIT = %q, want that of extraEnv", got)
	}
}

// goMemLimit is the one GOMEMLIMIT of the container, or empty.
func goMemLimit(t *testing.T, values map[string]any) string {
	t.Helper()
	var found []string
	for _, env := range container(t, values).Env {
		if env.Name == "GOMEMLIMIT" {
			found = append(found, env.Value)
		}
	}
	if len(found) > 1 {
		t.Errorf("GOMEMLIMIT is there %d times: %v", len(found), found)
	}
	return strings.Join(found, " ")
}

// container renders the one container of the Deployment.
func container(t *testing.T, values map[string]any) corev1.Container {
	t.Helper()
	containers := only[*appsv1.Deployment](t, render(t, values)).Spec.Template.Spec.Containers
	if len(containers) != 1 {
		t.Fatalf("the pod has %d containers, want 1", len(containers))
	}
	return containers[0]
}

func names(set map[string]bool) []string {
	var sorted []string
	for name := range set {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted
}
