package chart

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/charts"
)

func TestEveryObjectDecodesAndCarriesTheStandardLabels(t *testing.T) {
	for name, values := range valueFiles(t) {
		for form, apis := range map[string][]string{"without the API": nil, "with the API": {inventories}} {
			t.Run(name+" "+form, func(t *testing.T) {
				for _, o := range render(t, values, apis...) {
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
}

func TestNamesThatLookLikeNumbersStayText(t *testing.T) {
	render(t, map[string]any{
		"fullnameOverride": "1", "priorityClassName": "2", "configMap": map[string]any{"name": "3"},
		"inventory": map[string]any{"name": "4", "note": "5"}, "serviceAccount": map[string]any{"create": true, "name": "6"},
	})
}

func TestRenderingTwiceGivesTheSame(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			first, second := render(t, values), render(t, values)
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("second rendering (-first +second):\n%s", diff)
			}
		})
	}
}

func TestSelectorsOfServiceAndBudgetMatchThePods(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			objects := render(t, values)
			deployment := only[*appsv1.Deployment](t, objects)
			selectors := map[string]map[string]string{
				"deployment":                deployment.Spec.Selector.MatchLabels,
				"topologySpreadConstraints": deployment.Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels,
				"service":                   only[*corev1.Service](t, objects).Spec.Selector,
			}
			for _, budget := range pick[*policyv1.PodDisruptionBudget](objects) {
				selectors["podDisruptionBudget"] = budget.Spec.Selector.MatchLabels
			}
			for of, selector := range selectors {
				for label, value := range selector {
					if got := deployment.Spec.Template.Labels[label]; got != value {
						t.Errorf("selector of %s wants label %s=%s, pods have %q", of, label, value, got)
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

func TestImage(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	appVersion := loadChart(t).Metadata.AppVersion
	for name, tc := range map[string]struct {
		image map[string]any
		want  string
	}{
		"the tag is the appVersion by default": {image: map[string]any{"repository": "r/i"}, want: "r/i:" + appVersion},
		"a tag is taken":                       {image: map[string]any{"repository": "r/i", "tag": "v2"}, want: "r/i:v2"},
		"a digest wins over a tag":             {image: map[string]any{"repository": "r/i", "tag": "v2", "digest": digest}, want: "r/i@" + digest},
	} {
		t.Run(name, func(t *testing.T) {
			if got := container(t, map[string]any{"image": tc.image}).Image; got != tc.want {
				t.Errorf("image = %q, want %q", got, tc.want)
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
		var got string
		for _, env := range container(t, map[string]any{"resources": resources}).Env {
			if env.Name == "GOMEMLIMIT" {
				got = env.Value
			}
		}
		if got != want {
			t.Errorf("limits.memory %v: GOMEMLIMIT = %q, want %q", limit, got, want)
		}
	}
}

func TestRenderedCRDIsTheGeneratedOneWithOurMetadata(t *testing.T) {
	for name, tc := range map[string]struct {
		crds map[string]any
		want map[string]string
	}{
		"kept by default":      {crds: map[string]any{"keep": true}, want: map[string]string{"helm.sh/resource-policy": "keep"}},
		"not kept when told":   {crds: map[string]any{"keep": false}, want: map[string]string{}},
		"annotations are told": {crds: map[string]any{"annotations": map[string]any{"a": "b"}}, want: map[string]string{"helm.sh/resource-policy": "keep", "a": "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := only[*apiextensionsv1.CustomResourceDefinition](t, render(t, map[string]any{"crds": tc.crds}))
			var want apiextensionsv1.CustomResourceDefinition
			if err := yaml.UnmarshalStrict(charts.CRD, &want); err != nil {
				t.Fatal(err)
			}
			maps.Copy(tc.want, want.Annotations)
			if diff := cmp.Diff(tc.want, got.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			got.Annotations, got.Labels = want.Annotations, want.Labels
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("CRD (-generated +rendered):\n%s", diff)
			}
		})
	}
	if size := len(charts.CRD); size > 262144 {
		t.Errorf("the CRD has %d bytes: client-side apply takes 262144", size)
	}
}

func TestInventoryHasOnlyWhatTheValuesSet(t *testing.T) {
	for name, tc := range map[string]struct {
		values map[string]any
		want   v1.GpuInventorySpec
	}{
		"nothing": {},
		"a note":  {values: map[string]any{"inventory": map[string]any{"note": "n"}}, want: v1.GpuInventorySpec{Note: "n"}},
		"everything": {values: valueFiles(t)["all"], want: v1.GpuInventorySpec{
			Note:         "the GPUs of pool A",
			NodeSelector: &v1.NodeSelector{MatchLabels: map[string]string{"pool": "a"}},
			Expected: []v1.ExpectedPool{
				{
					Name: "h100", Product: "NVIDIA-H100-80GB-HBM3", Nodes: 4, GpusPerNode: ptr.To[int32](8),
					NodeSelector: &v1.NodeSelector{MatchExpressions: []v1.NodeSelectorRequirement{
						{Key: "gpu", Operator: metav1.LabelSelectorOpIn, Values: []string{"h100"}},
					}},
				},
				{Name: "spare", Nodes: 0},
			},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := only[*v1.GpuInventory](t, render(t, tc.values)).Spec
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInventoryIsAHookOnlyWhileItsAPIIsMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		values map[string]any
		apis   []string
		hook   bool
	}{
		"the first install":               {hook: true},
		"the API is there":                {apis: []string{inventories}},
		"the CRD comes by other means":    {values: map[string]any{"crds": map[string]any{"install": false}}},
		"no inventory, so no hook either": {values: map[string]any{"inventory": map[string]any{"create": false}}},
	} {
		t.Run(name, func(t *testing.T) {
			rel, err := template(t, tc.values, tc.apis...)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(rel.Hooks) == 1; got != tc.hook {
				t.Errorf("rendered a hook: %t, want %t", got, tc.hook)
			}
			for _, o := range pick[*v1.GpuInventory](render(t, tc.values, tc.apis...)) {
				assertOwned(t, o)
				if _, got := o.Annotations["helm.sh/hook"]; got != tc.hook {
					t.Errorf("annotated as a hook: %t, want %t", got, tc.hook)
				}
				if got := o.Annotations["helm.sh/hook-delete-policy"]; strings.Contains(got, "before-hook-creation") || tc.hook && got == "" {
					t.Errorf("hook-delete-policy %q lets Helm delete an existing inventory", got)
				}
			}
		})
	}
}

// assertOwned checks what Helm asks of an object before it adopts it, and what keeps it at an uninstall.
func assertOwned(t *testing.T, o client.Object) {
	t.Helper()
	if got := o.GetLabels()["app.kubernetes.io/managed-by"]; got != "Helm" {
		t.Errorf("label managed-by = %q, want Helm", got)
	}
	for key, want := range map[string]string{
		"meta.helm.sh/release-name": releaseName, "meta.helm.sh/release-namespace": namespace, "helm.sh/resource-policy": "keep",
	} {
		if got := o.GetAnnotations()[key]; got != want {
			t.Errorf("annotation %s = %q, want %q", key, got, want)
		}
	}
}

func TestNotesNameTheNextCommands(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			rel, err := template(t, values)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{
				"kubectl get gpuinventory\n", "kubectl describe gpuinventory ",
				"kubectl -n " + namespace + " get configmap ", "-o jsonpath='{.data.nodes}'", "may read", "may write",
			} {
				if !strings.Contains(rel.Info.Notes, want) {
					t.Errorf("the notes lack %q:\n%s", want, rel.Info.Notes)
				}
			}
		})
	}
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
