package chart

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

const owner = client.FieldOwner("gpu-inventory-operator")

// request is something that a client may or may not be allowed to do.
type request func(context.Context, client.WithWatch) error

func applyConfigMap(namespace, name string) request {
	return func(ctx context.Context, c client.WithWatch) error {
		return c.Apply(ctx, applycorev1.ConfigMap(name, namespace).WithData(map[string]string{"summary": "gpu_nodes=0"}), owner)
	}
}

func list(objects client.ObjectList, options ...client.ListOption) request {
	return func(ctx context.Context, c client.WithWatch) error { return c.List(ctx, objects, options...) }
}

func watch(objects client.ObjectList, options ...client.ListOption) request {
	return func(ctx context.Context, c client.WithWatch) error {
		w, err := c.Watch(ctx, objects, options...)
		if err == nil {
			w.Stop()
		}
		return err
	}
}

func get(object client.Object, namespace, name string) request {
	return func(ctx context.Context, c client.WithWatch) error {
		return c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	}
}

func create(object client.Object, namespace, name string) request {
	return func(ctx context.Context, c client.WithWatch) error {
		object.SetNamespace(namespace)
		object.SetName(name)
		object.SetResourceVersion("")
		return c.Create(ctx, object)
	}
}

// applyInventory applies as the operator does: its status, or what the values of the chart say.
func applyInventory(name, subresource string) request {
	return func(ctx context.Context, c client.WithWatch) error {
		body := fmt.Sprintf(`{"apiVersion":"homelab.youngju.dev/v1","kind":"GpuInventory","metadata":{"name":%q}}`, name)
		inventory, patch := &v1.GpuInventory{ObjectMeta: metav1.ObjectMeta{Name: name}}, client.RawPatch(types.ApplyPatchType, []byte(body))
		if subresource != "" {
			return c.SubResource(subresource).Patch(ctx, inventory, patch, owner, client.ForceOwnership)
		}
		return c.Patch(ctx, inventory, patch, owner, client.ForceOwnership)
	}
}

func reviewAccess(ctx context.Context, c client.WithWatch) error {
	return c.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "somebody", NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
	}})
}

func reviewToken(ctx context.Context, c client.WithWatch) error {
	return c.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "none"}})
}

func remove(object client.Object, name string) request {
	return func(ctx context.Context, c client.WithWatch) error {
		object.SetName(name)
		return c.Delete(ctx, object)
	}
}

func event() *eventsv1.Event {
	return &eventsv1.Event{
		EventTime: metav1.NowMicro(), Action: "Observe", Reason: v1.EventGpuNodeAdded, Type: corev1.EventTypeNormal,
		ReportingController: string(owner), ReportingInstance: "test",
		Regarding: corev1.ObjectReference{APIVersion: v1.GroupVersion.String(), Kind: "GpuInventory", Name: "cluster"},
	}
}

func TestOperatorsServiceAccountMay(t *testing.T) {
	c := newCluster(t)
	c.install(t, nil)
	account := c.as(t, releaseName)
	byName := []client.ListOption{client.InNamespace(c.namespace), client.MatchingFields{"metadata.name": "gpu-node-status"}}

	for name, allowed := range map[string]request{
		"list nodes":        list(&corev1.NodeList{}),
		"watch nodes":       watch(&corev1.NodeList{}),
		"list inventories":  list(&v1.GpuInventoryList{}),
		"watch inventories": watch(&v1.GpuInventoryList{}),
		"apply the inventory of the values": func(ctx context.Context, k8s client.WithWatch) error {
			if err := applyInventory("cluster", "")(ctx, k8s); err != nil {
				return err
			}
			return applyInventory("cluster", "status")(ctx, k8s)
		},
		"review a token":              reviewToken,
		"review somebody's access":    reviewAccess,
		"create events":               create(event(), metav1.NamespaceDefault, "event"),
		"list its ConfigMap by name":  list(&corev1.ConfigMapList{}, byName...),
		"watch its ConfigMap by name": watch(&corev1.ConfigMapList{}, byName...),
		"apply its ConfigMap":         applyConfigMap(c.namespace, "gpu-node-status"),
		"create and update its Lease": func(ctx context.Context, k8s client.WithWatch) error {
			lease := &coordinationv1.Lease{}
			if err := create(lease, c.namespace, "gpu-inventory-operator")(ctx, k8s); err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
			if err := get(lease, c.namespace, "gpu-inventory-operator")(ctx, k8s); err != nil {
				return err
			}
			return k8s.Update(ctx, lease)
		},
	} {
		t.Run(name, func(t *testing.T) { assertAllowed(t, account, allowed) })
	}
	for name, forbidden := range map[string]request{
		"get a node":                        get(&corev1.Node{}, "", "a"),
		"write a node":                      create(&corev1.Node{}, "", "a"),
		"apply another inventory":           applyInventory("other", ""),
		"create an inventory with a POST":   create(&v1.GpuInventory{}, "", "cluster"),
		"delete the inventory":              remove(&v1.GpuInventory{}, "cluster"),
		"create pods":                       create(&corev1.Pod{}, c.namespace, "a"),
		"list secrets":                      list(&corev1.SecretList{}),
		"list ConfigMaps":                   list(&corev1.ConfigMapList{}, client.InNamespace(c.namespace)),
		"apply another ConfigMap":           applyConfigMap(c.namespace, "other"),
		"apply the name in other places":    applyConfigMap(metav1.NamespaceDefault, "gpu-node-status"),
		"create a ConfigMap with a POST":    create(&corev1.ConfigMap{}, c.namespace, "gpu-node-status-2"),
		"get a Lease that is not its own":   get(&coordinationv1.Lease{}, c.namespace, "other"),
		"create a Lease in another place":   create(&coordinationv1.Lease{}, metav1.NamespaceDefault, "gpu-inventory-operator"),
		"get events":                        list(&eventsv1.EventList{}),
		"create events of the core group":   create(&corev1.Event{}, metav1.NamespaceDefault, "event"),
		"list the roles in its namespace":   list(&rbacv1.RoleList{}, client.InNamespace(c.namespace)),
		"read its Deployment":               get(&appsv1.Deployment{}, c.namespace, releaseName),
		"read the namespaces of the Leases": list(&corev1.NamespaceList{}),
	} {
		t.Run("not "+name, func(t *testing.T) { assertForbidden(t, account, forbidden) })
	}
}

// What the API server asks of whoever applies an object that is not there yet: the reason for the rule in the chart.
func TestApplyOfAMissingConfigMapNeedsCreateAndTheNameMayLimitIt(t *testing.T) {
	named := []string{"gpu-node-status"}
	for name, tc := range map[string]struct {
		rules         []rbacv1.PolicyRule
		apply, direct bool // whether the object can be created by an apply, and by a POST
	}{
		"patch":                            {rules: configMapRules(named, "patch")},
		"patch and create, both by name":   {rules: configMapRules(named, "patch", "create"), apply: true},
		"patch by name, create of any":     {rules: append(configMapRules(named, "patch"), configMapRules(nil, "create")...), apply: true, direct: true},
		"create by name":                   {rules: configMapRules(named, "create")},
		"patch and create of another name": {rules: configMapRules([]string{"other"}, "patch", "create")},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.grant(t, "account", tc.rules)
			account := c.as(t, "account")
			for what, test := range map[string]struct {
				request request
				allowed bool
			}{
				"apply": {request: applyConfigMap(c.namespace, "gpu-node-status"), allowed: tc.apply},
				"POST":  {request: create(&corev1.ConfigMap{}, c.namespace, "posted"), allowed: tc.direct},
			} {
				t.Run(what, func(t *testing.T) {
					if test.allowed {
						assertAllowed(t, account, test.request)
					} else {
						assertForbidden(t, account, test.request)
					}
				})
			}
		})
	}
}

func configMapRules(resourceNames []string, verbs ...string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: resourceNames, Verbs: verbs}}
}

// grant makes a ServiceAccount and gives it the rules, and leave to list Leases, by which as sees that they are in force.
func (c *cluster) grant(t *testing.T, account string, rules []rbacv1.PolicyRule) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: c.namespace, Name: account}
	rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"list"}})
	for _, object := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta},
		&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: c.namespace, Name: account}},
		},
	} {
		if err := c.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	assertAllowed(t, c.as(t, account), list(&coordinationv1.LeaseList{}, client.InNamespace(c.namespace)))
}

func (c *cluster) admin(t *testing.T) client.WithWatch {
	t.Helper()
	k8s, err := client.NewWithWatch(c.controlPlane.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return k8s
}

// as is a client with a token of the ServiceAccount.
func (c *cluster) as(t *testing.T, account string) client.WithWatch {
	t.Helper()
	cfg, err := harness.ServiceAccountConfig(t.Context(), c.controlPlane.Config, c.namespace, account)
	if err != nil {
		t.Fatal(err)
	}
	cfg.WarningHandler, cfg.QPS = rest.NoWarnings{}, -1
	k8s, err := client.NewWithWatch(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return k8s
}

// assertAllowed tries again while the request is forbidden: the API server learns of new roles a moment later.
func assertAllowed(t *testing.T, c client.WithWatch, r request) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		last = r(ctx, c)
		return !apierrors.IsForbidden(last), nil
	})
	if err != nil || last != nil {
		t.Errorf("request: %v, want that it succeeds", last)
	}
}

func assertForbidden(t *testing.T, c client.WithWatch, r request) {
	t.Helper()
	if err := r(t.Context(), c); !apierrors.IsForbidden(err) {
		t.Errorf("request: %v, want that it is forbidden", err)
	}
}
