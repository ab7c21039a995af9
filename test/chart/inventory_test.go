package chart

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/charts"
)

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

// inventoryManifest is the GpuInventory that the operator is told to apply.
func inventoryManifest(t *testing.T, objects []client.Object) *v1.GpuInventory {
	t.Helper()
	name := only[*appsv1.Deployment](t, objects).Name + "-inventory"
	manifest := named[*corev1.ConfigMap](t, objects, name).Data["inventory.yaml"]
	return only[*v1.GpuInventory](t, decode(t, manifest))
}

func TestInventoryHasOnlyWhatTheValuesSet(t *testing.T) {
	for name, tc := range map[string]struct {
		values map[string]any
		want   v1.GpuInventorySpec
	}{
		"nothing": {},
		"a note":  {values: set("inventory.note", "n"), want: v1.GpuInventorySpec{Note: "n"}},
		"everything": {values: valueFiles(t)["everything"], want: v1.GpuInventorySpec{
			Note:         "the GPUs of pool A",
			NodeSelector: &v1.NodeSelector{MatchLabels: map[string]string{"pool": "a"}},
			Expected: []v1.ExpectedPool{
				{
					Name: "h100", Product: "NVIDIA-H100-80GB-HBM3", Nodes: 4, GpusPerNode: ptr.To[int32](8),
					NodeSelector: &v1.NodeSelector{MatchExpressions: []v1.NodeSelectorRequirement{
						{Key: "gpu", Operator: metav1.LabelSelectorOpIn, Values: []string{"h100"}},
					}},
				},
				{Name: "large", Nodes: 1000000},
				{Name: "spare", Nodes: 0},
			},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := inventoryManifest(t, render(t, tc.values)).Spec
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}

// Tools that find their objects by the label app.kubernetes.io/instance would take the inventory, which is in no manifest of
// the release, for a leftover.
func TestInventoryIsNotTakenForAnObjectOfTheRelease(t *testing.T) {
	values := set("commonLabels", map[string]any{"app.kubernetes.io/instance": "x", "team": "a"})
	got := inventoryManifest(t, render(t, values)).Labels
	want := []string{"app.kubernetes.io/managed-by", "app.kubernetes.io/name", "app.kubernetes.io/part-of", "app.kubernetes.io/version", "helm.sh/chart", "team"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got := got["app.kubernetes.io/managed-by"]; got != "gpu-inventory-operator" {
		t.Errorf("managed by %q, want gpu-inventory-operator", got)
	}
	for name, values := range valueFiles(t) {
		for _, o := range render(t, values) {
			if _, ok := o.(*v1.GpuInventory); ok {
				t.Errorf("%s: there is a GpuInventory among the objects of the release: Helm would delete it", name)
			}
		}
	}
}

func TestInventoryIsMountedWhereTheOperatorReadsIt(t *testing.T) {
	objects := render(t, nil)
	pod := only[*appsv1.Deployment](t, objects).Spec.Template.Spec
	mount, volume := pod.Containers[0].VolumeMounts[0], pod.Volumes[0]
	if mount.Name != volume.Name || !mount.ReadOnly || volume.ConfigMap == nil {
		t.Fatalf("mount %+v of volume %+v, want a ConfigMap, read-only", mount, volume)
	}
	if _, ok := named[*corev1.ConfigMap](t, objects, volume.ConfigMap.Name).Data["inventory.yaml"]; !ok {
		t.Errorf("ConfigMap %s has no inventory.yaml", volume.ConfigMap.Name)
	}
	if want := "--inventory-file=" + mount.MountPath + "/inventory.yaml"; !slices.Contains(pod.Containers[0].Args, want) {
		t.Errorf("args = %v, want %s in them", pod.Containers[0].Args, want)
	}

	objects = render(t, set("inventory.create", false))
	if got := only[*appsv1.Deployment](t, objects).Spec.Template.Spec; len(got.Volumes) != 0 || len(got.Containers[0].VolumeMounts) != 0 {
		t.Errorf("without an inventory there are volumes %v", got.Volumes)
	}
	if got := pick[*corev1.ConfigMap](objects); len(got) != 0 {
		t.Errorf("without an inventory there are %d ConfigMaps, want none", len(got))
	}
}

// Kubernetes does not restart pods when a ConfigMap changes, and the operator reads the file once.
func TestPodsRollWhenTheInventoryChangesAndOnlyThen(t *testing.T) {
	annotations := func(values map[string]any) map[string]string {
		return only[*appsv1.Deployment](t, render(t, values)).Spec.Template.Annotations
	}
	before := annotations(nil)
	if diff := cmp.Diff(before, annotations(set("metrics.serviceMonitor.enabled", true))); diff != "" {
		t.Errorf("another value changes the pods' annotations (-before +after):\n%s", diff)
	}
	if cmp.Equal(before, annotations(set("inventory.note", "n"))) {
		t.Error("a note in the inventory changes nothing of the pods")
	}
}

func TestNotesNameTheNextCommandsAndThePermissions(t *testing.T) {
	common := []string{
		"kubectl get gpuinventory\n", "kubectl describe gpuinventory ", "get configmap ", "-o jsonpath='{.data.nodes}'", "Nodes, GpuInventories",
		"the status of GpuInventories, Events", "Metrics: http",
	}
	for name, tc := range map[string]struct {
		want, lack []string
	}{
		"default": {
			want: []string{
				"kubectl -n gpu-inventory get", "Pods (allocation.enabled)", "ResourceSlices, DeviceTaintRules, ResourceClaims (dra.enabled)",
				"the GpuInventory cluster (inventory.create)", "TokenReviews, SubjectAccessReviews (metrics.secure)", "read Secrets, write Nodes",
				"https://gpu-inventory-operator-metrics.gpu-inventory.svc:8443/metrics", "--clusterrole=gpu-inventory-operator-metrics-reader",
			},
			lack: []string{"inventory.create is false", "replicaCount is 0"},
		},
		"minimal":       {want: []string{"inventory.create is false", "http://"}, lack: []string{"TokenReviews", "clusterrolebinding", "(inventory.create)"}},
		"no-allocation": {want: []string{"read Secrets or Pods, write Nodes"}, lack: []string{"ResourceSlices", "(allocation.enabled)"}},
		"everything":    {want: []string{"kubectl -n gpu-system get", "for monitoring/prometheus, observability/agent"}, lack: []string{"clusterrolebinding"}},
	} {
		t.Run(name, func(t *testing.T) {
			rel, err := template(t, valueFiles(t)[name])
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range append(tc.want, common...) {
				if !strings.Contains(rel.Info.Notes, want) {
					t.Errorf("the notes lack %q:\n%s", want, rel.Info.Notes)
				}
			}
			for _, lack := range tc.lack {
				if strings.Contains(rel.Info.Notes, lack) {
					t.Errorf("the notes have %q:\n%s", lack, rel.Info.Notes)
				}
			}
		})
	}
	if rel, err := template(t, set("replicaCount", 0)); err != nil || !strings.Contains(rel.Info.Notes, "replicaCount is 0") {
		t.Errorf("render: %v, want notes that say what no replica means", err)
	}
}
