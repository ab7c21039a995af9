package chart

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const generatedRole = "../../config/rbac/role.yaml"

func TestOperatorMayDoWhatItsCodeDeclaresAndNoMore(t *testing.T) {
	content, err := os.ReadFile(generatedRole)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is missing: run make generate", generatedRole)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := grants(decode(t, string(content)))
	got := grants(operatorRoles(render(t, nil)))
	if diff := cmp.Diff(names(want), names(got)); diff != "" {
		t.Errorf("templates/rbac.yaml grants other than the +kubebuilder:rbac markers say (-markers +chart):\n%s", diff)
	}
}

func TestRoleNamesTheConfigMapOfTheValues(t *testing.T) {
	got := grants(operatorRoles(render(t, map[string]any{"configMap": map[string]any{"name": "mine"}})))
	for grant := range got {
		if strings.Contains(grant, "configmaps") && !strings.Contains(grant, "configmaps/mine:") {
			t.Errorf("granted %q, want configmaps of the name mine only", grant)
		}
	}
	if !got["Role core configmaps/mine: patch"] {
		t.Errorf("granted %v, want patch of the ConfigMap mine", names(got))
	}
}

func TestAFeatureThatIsOffHasNoPermission(t *testing.T) {
	for name, tc := range map[string]struct {
		off  map[string]any
		want []string // what goes, and nothing else
	}{
		"allocation": {set("allocation.enabled", false), []string{
			"ClusterRole core pods/<any>: list", "ClusterRole core pods/<any>: watch",
			"ClusterRole resource.k8s.io resourceclaims/<any>: list", "ClusterRole resource.k8s.io resourceclaims/<any>: watch",
		}},
		"DRA": {set("dra.enabled", false), []string{
			"ClusterRole resource.k8s.io devicetaintrules/<any>: list", "ClusterRole resource.k8s.io devicetaintrules/<any>: watch",
			"ClusterRole resource.k8s.io resourceclaims/<any>: list", "ClusterRole resource.k8s.io resourceclaims/<any>: watch",
			"ClusterRole resource.k8s.io resourceslices/<any>: list", "ClusterRole resource.k8s.io resourceslices/<any>: watch",
		}},
		"secured metrics": {set("metrics.secure", false), []string{
			"ClusterRole /metrics: get", // the role of those who scrape
			"ClusterRole authentication.k8s.io tokenreviews/<any>: create",
			"ClusterRole authorization.k8s.io subjectaccessreviews/<any>: create",
		}},
		"the inventory": {set("inventory.create", false), []string{
			"ClusterRole homelab.youngju.dev gpuinventories/cluster: create", "ClusterRole homelab.youngju.dev gpuinventories/cluster: patch",
		}},
		"aggregation": {set("rbac.aggregate", false), []string{
			"ClusterRole homelab.youngju.dev gpuinventories/<any>: create", "ClusterRole homelab.youngju.dev gpuinventories/<any>: delete",
			"ClusterRole homelab.youngju.dev gpuinventories/<any>: deletecollection", "ClusterRole homelab.youngju.dev gpuinventories/<any>: get",
			"ClusterRole homelab.youngju.dev gpuinventories/<any>: patch", "ClusterRole homelab.youngju.dev gpuinventories/<any>: update",
		}},
		"a ServiceMonitor, which needs none": {set("metrics.serviceMonitor.enabled", true), nil},
	} {
		t.Run(name, func(t *testing.T) {
			on, off := grants(render(t, nil)), grants(render(t, tc.off))
			var gone []string
			for _, grant := range names(on) {
				if !off[grant] {
					gone = append(gone, grant)
				}
			}
			if diff := cmp.Diff(tc.want, gone); diff != "" {
				t.Errorf("permissions that go with it (-want +got):\n%s", diff)
			}
			for _, grant := range names(off) {
				if !on[grant] {
					t.Errorf("off grants more: %s", grant)
				}
			}
		})
	}
}

func TestOperatorWritesInTheClusterOnlyItsOwnObjectsEventsAndReviews(t *testing.T) {
	want := []string{
		"authentication.k8s.io tokenreviews/<any>: create",
		"authorization.k8s.io subjectaccessreviews/<any>: create",
		"events.k8s.io events/<any>: create",
		"events.k8s.io events/<any>: patch",
		"homelab.youngju.dev gpuinventories/cluster: create",
		"homelab.youngju.dev gpuinventories/cluster: patch",
		"homelab.youngju.dev gpuinventories/status/<any>: patch",
	}
	var got []string
	for _, grant := range names(grants(operatorRoles(render(t, nil)))) {
		right, inCluster := strings.CutPrefix(grant, "ClusterRole ")
		if inCluster && !strings.HasSuffix(grant, ": list") && !strings.HasSuffix(grant, ": watch") {
			got = append(got, right)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func TestNoRoleHasWildcardsOrSecrets(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			all := grants(own(t, values))
			if len(all) == 0 {
				t.Fatal("no rules rendered")
			}
			for grant := range all {
				if strings.Contains(grant, "*") || strings.Contains(grant, "secrets") || strings.Contains(grant, "bind") || strings.Contains(grant, "impersonate") {
					t.Errorf("granted %q", grant)
				}
			}
			for _, secret := range pick[*corev1.Secret](own(t, values)) {
				t.Errorf("rendered the Secret %s, want none", secret.Name)
			}
		})
	}
}

func TestAccountOfTheTestMayDoNoMoreThanItAsksFor(t *testing.T) {
	inventory, metrics := "ClusterRole homelab.youngju.dev gpuinventories/cluster: get", "ClusterRole /metrics: get"
	for name, tc := range map[string]struct {
		values map[string]any
		want   []string
	}{
		"by default":           {nil, []string{metrics, inventory}},
		"plain metrics":        {set("metrics.secure", false), []string{inventory}},
		"without an inventory": {set("inventory.create", false), []string{metrics}},
		"without both":         {set("inventory.create", false, "metrics.secure", false), nil},
		"without a test":       {set("tests.enabled", false), nil},
	} {
		t.Run(name, func(t *testing.T) {
			objects := renderTest(t, tc.values)
			if diff := cmp.Diff(tc.want, names(grants(objects))); diff != "" {
				t.Errorf("permissions (-want +got):\n%s", diff)
			}
			for _, binding := range pick[*rbacv1.ClusterRoleBinding](objects) {
				account := only[*corev1.ServiceAccount](t, objects)
				want := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: account.Namespace, Name: account.Name}}
				if diff := cmp.Diff(want, binding.Subjects); diff != "" {
					t.Errorf("subjects (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestBindingsBindTheOperatorsRolesToItsServiceAccount(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			objects := render(t, values)
			deployment := only[*appsv1.Deployment](t, objects)
			subject := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: deployment.Namespace, Name: serviceAccount(t, objects)}}
			cluster := named[*rbacv1.ClusterRoleBinding](t, objects, deployment.Name)
			inNamespace := only[*rbacv1.RoleBinding](t, objects)
			want := map[string]any{"ClusterRole " + deployment.Name: subject, "Role " + deployment.Name: subject}
			got := map[string]any{
				cluster.RoleRef.Kind + " " + cluster.RoleRef.Name:         cluster.Subjects,
				inNamespace.RoleRef.Kind + " " + inNamespace.RoleRef.Name: inNamespace.Subjects,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("bindings (-want +got):\n%s", diff)
			}
			if operatorRoles(objects)[0].GetName() != deployment.Name {
				t.Errorf("the operator's role is %s, want %s", operatorRoles(objects)[0].GetName(), deployment.Name)
			}
		})
	}
}

// operatorRoles leaves out the roles for people and for those who scrape.
func operatorRoles(objects []client.Object) []client.Object {
	var roles []client.Object
	for _, role := range pick[*rbacv1.ClusterRole](objects) {
		if !slices.ContainsFunc([]string{"-viewer", "-editor", "-metrics-reader"}, func(suffix string) bool { return strings.HasSuffix(role.Name, suffix) }) {
			roles = append(roles, role)
		}
	}
	for _, role := range pick[*rbacv1.Role](objects) {
		roles = append(roles, role)
	}
	return roles
}

// grants takes rules apart: one entry for each role kind, group, resource, name and verb, however the rules group them.
func grants(objects []client.Object) map[string]bool {
	set := map[string]bool{}
	for _, o := range objects {
		switch role := o.(type) {
		case *rbacv1.ClusterRole:
			addGrants(set, "ClusterRole", role.Rules)
		case *rbacv1.Role:
			addGrants(set, "Role", role.Rules)
		}
	}
	return set
}

func addGrants(set map[string]bool, kind string, rules []rbacv1.PolicyRule) {
	for _, rule := range rules {
		resourceNames := rule.ResourceNames
		if len(resourceNames) == 0 {
			resourceNames = []string{"<any>"}
		}
		for _, group := range rule.APIGroups {
			if group == "" {
				group = "core"
			}
			for _, resource := range rule.Resources {
				for _, name := range resourceNames {
					for _, verb := range rule.Verbs {
						set[fmt.Sprintf("%s %s %s/%s: %s", kind, group, resource, name, verb)] = true
					}
				}
			}
		}
		for _, url := range rule.NonResourceURLs {
			set[fmt.Sprintf("%s %s: %s", kind, url, strings.Join(rule.Verbs, ","))] = true
		}
	}
}
