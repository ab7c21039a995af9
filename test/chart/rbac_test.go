package chart

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	cases := map[string]struct {
		values map[string]any
		word   string
	}{
		"DRA":        {map[string]any{"dra": map[string]any{"enabled": false}}, "resource.k8s.io"},
		"allocation": {map[string]any{"allocation": map[string]any{"enabled": false}}, "pods"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if on := strings.Join(names(grants(render(t, nil))), "\n"); !strings.Contains(on, tc.word) {
				t.Fatalf("granted by default: %s, want %s in it", on, tc.word)
			}
			if off := strings.Join(names(grants(operatorRoles(render(t, tc.values)))), "\n"); strings.Contains(off, tc.word) {
				t.Errorf("granted without the feature: %s", off)
			}
		})
	}
}

func TestNoRoleHasWildcardsOrSecrets(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			all := grants(render(t, values))
			if len(all) == 0 {
				t.Fatal("no rules rendered")
			}
			for grant := range all {
				if strings.Contains(grant, "*") || strings.Contains(grant, "secrets") {
					t.Errorf("granted %q", grant)
				}
			}
		})
	}
}

func TestBindingsBindTheOperatorsRolesToItsServiceAccount(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			objects := render(t, values)
			cluster, inNamespace := only[*rbacv1.ClusterRoleBinding](t, objects), only[*rbacv1.RoleBinding](t, objects)
			subject := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: serviceAccount(t, objects)}}
			role := operatorRoles(objects)[0].GetName()
			want := map[string]any{"ClusterRole " + role: subject, "Role " + role: subject}
			got := map[string]any{
				cluster.RoleRef.Kind + " " + cluster.RoleRef.Name:         cluster.Subjects,
				inNamespace.RoleRef.Kind + " " + inNamespace.RoleRef.Name: inNamespace.Subjects,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("bindings (-want +got):\n%s", diff)
			}
		})
	}
}

// operatorRoles leaves out the roles for people.
func operatorRoles(objects []client.Object) []client.Object {
	var roles []client.Object
	for _, role := range pick[*rbacv1.ClusterRole](objects) {
		if !strings.HasSuffix(role.Name, "-view") && !strings.HasSuffix(role.Name, "-edit") {
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
