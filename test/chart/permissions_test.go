package chart

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
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

func patchInventory(status bool) request {
	return func(ctx context.Context, c client.WithWatch) error {
		inventory := &v1.GpuInventory{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
		if status {
			return c.Status().Patch(ctx, inventory, client.RawPatch(types.MergePatchType, []byte(`{"status":{"totalGpuNodes":4}}`)))
		}
		return c.Patch(ctx, inventory, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"note":"x"}}`)))
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
		"list nodes":                  list(&corev1.NodeList{}),
		"watch nodes":                 watch(&corev1.NodeList{}),
		"list inventories":            list(&v1.GpuInventoryList{}),
		"watch inventories":           watch(&v1.GpuInventoryList{}),
		"patch an inventory's status": patchInventory(true),
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
		"change an inventory's spec":        patchInventory(false),
		"create an inventory":               create(&v1.GpuInventory{}, "", "b"),
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

func TestPodsPassTheRestrictedPodSecurityStandard(t *testing.T) {
	for name, values := range valueFiles(t) {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			var ns corev1.Namespace
			if err := c.Get(t.Context(), client.ObjectKey{Name: c.namespace}, &ns); err != nil {
				t.Fatal(err)
			}
			ns.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
			if err := c.Update(t.Context(), &ns); err != nil {
				t.Fatal(err)
			}
			template := only[*appsv1.Deployment](t, render(t, values)).Spec.Template
			pod := corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
			pod.Namespace, pod.Name = c.namespace, "pod"

			loose := pod.DeepCopy()
			loose.Spec.Containers[0].SecurityContext.Capabilities = nil
			if err := c.Create(t.Context(), loose, client.DryRunAll); !apierrors.IsForbidden(err) {
				t.Fatalf("create pod that keeps its capabilities: %v, want that the standard forbids it", err)
			}
			if err := c.Create(t.Context(), &pod, client.DryRunAll); err != nil {
				t.Errorf("create pod: %v", err)
			}
			if got := pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem; got == nil || !*got {
				t.Error("the root file system can be written")
			}
		})
	}
}
