package envtest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

// operator is a running manager and the proxy that it talks through.
type operator struct {
	*harness.Manager
	proxy      *harness.Proxy
	namespace  string
	kubeconfig string
	args       []string
}

// startOperator starts a manager as the chart's ServiceAccount; it ends with the spec.
func startOperator(ctx context.Context, args ...string) *operator {
	GinkgoHelper()
	cfg, err := harness.ServiceAccountConfig(ctx, controlPlane.Config, namespace, release)
	Expect(err).NotTo(HaveOccurred())
	return startOperatorAs(cfg, namespace, args...)
}

// startAdminOperator starts a manager as the administrator, in any namespace.
func startAdminOperator(_ context.Context, namespace string, args ...string) *operator {
	GinkgoHelper()
	return startOperatorAs(controlPlane.Config, namespace, args...)
}

func startOperatorAs(cfg *rest.Config, namespace string, args ...string) *operator {
	GinkgoHelper()
	proxy, err := harness.StartProxy(cfg)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(proxy.Stop)
	o := &operator{proxy: proxy, namespace: namespace, kubeconfig: filepath.Join(GinkgoT().TempDir(), "kubeconfig"), args: args}
	Expect(harness.WriteKubeconfig(proxy.Config, o.kubeconfig)).To(Succeed())
	o.start()
	DeferCleanup(func() {
		if CurrentSpecReport().Failed() {
			AddReportEntry("manager log", o.Log())
		}
		_ = o.Kill()
	})
	return o
}

func (o *operator) start() {
	GinkgoHelper()
	var err error
	o.Manager, err = harness.StartManager(managerBin, o.kubeconfig, o.namespace, o.args...)
	Expect(err).NotTo(HaveOccurred())
}

// restart stops the manager cleanly and starts it again.
func (o *operator) restart() {
	GinkgoHelper()
	Expect(o.Stop()).To(Succeed())
	o.proxy.Reset()
	o.start()
	Eventually(o.ready).Should(Succeed())
}

func (o *operator) ready() error {
	code, err := o.Probe("/readyz")
	if err == nil && code != 200 {
		err = fmt.Errorf("/readyz answers %d", code)
	}
	return err
}

// writes are the writes to the operator's outputs: not to its Lease, not of Events.
func (o *operator) writes(resource string) []harness.Request {
	return o.proxy.Requests(func(r harness.Request) bool { return r.Write() && r.Resource == resource })
}

func (o *operator) statusWrites() int    { return len(o.writes("gpuinventories")) }
func (o *operator) configMapWrites() int { return len(o.writes("configmaps")) }

// freshCluster removes what earlier specs left: Nodes, inventories, outputs, Events, the Lease. One inventory, cluster,
// covers everything.
func freshCluster(ctx context.Context) {
	GinkgoHelper()
	inNamespace := client.InNamespace(namespace)
	Expect(k8s.DeleteAllOf(ctx, &corev1.Node{})).To(Succeed())
	Expect(k8s.DeleteAllOf(ctx, &v1.GpuInventory{})).To(Succeed())
	Expect(k8s.DeleteAllOf(ctx, &corev1.ConfigMap{}, inNamespace, client.MatchingLabels{"app.kubernetes.io/managed-by": release})).To(Succeed())
	Expect(k8s.DeleteAllOf(ctx, &eventsv1.Event{}, client.InNamespace("default"))).To(Succeed())
	Expect(k8s.DeleteAllOf(ctx, &coordinationv1.Lease{}, inNamespace)).To(Succeed())
	createInventory(ctx, "cluster")
}

func createInventory(ctx context.Context, name string, mods ...func(*v1.GpuInventory)) {
	GinkgoHelper()
	inv := &v1.GpuInventory{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, mod := range mods {
		mod(inv)
	}
	Expect(k8s.Create(ctx, inv)).To(Succeed())
}

// freshInventory replaces the inventory cluster by one without a status.
func freshInventory(ctx context.Context) {
	GinkgoHelper()
	Expect(k8s.DeleteAllOf(ctx, &v1.GpuInventory{})).To(Succeed())
	createInventory(ctx, "cluster")
}

func completeMessage(ctx context.Context) string {
	GinkgoHelper()
	if c := meta.FindStatusCondition(status(ctx, "cluster").Conditions, v1.ConditionComplete); c != nil {
		return c.Message
	}
	return ""
}

func status(ctx context.Context, name string) v1.GpuInventoryStatus {
	GinkgoHelper()
	var inv v1.GpuInventory
	Expect(k8s.Get(ctx, client.ObjectKey{Name: name}, &inv)).To(Succeed())
	return inv.Status
}

// totals are GPU nodes, ready ones and GPUs of an inventory; nil while it has none.
func totals(ctx context.Context, name string) func() []int32 {
	return func() []int32 {
		s := status(ctx, name)
		if s.TotalGpuNodes == nil {
			return nil
		}
		gpus := int32(-1)
		if s.TotalGpus != nil {
			gpus = *s.TotalGpus
		}
		return []int32{*s.TotalGpuNodes, *s.ReadyGpuNodes, gpus}
	}
}

func configMap(ctx context.Context) (*corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{}
	return cm, k8s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "gpu-node-status"}, cm)
}

func configMapSummary(ctx context.Context) func() string {
	return func() string {
		cm, err := configMap(ctx)
		if err != nil {
			return err.Error()
		}
		return cm.Data["summary"]
	}
}

// eventReasons are the reasons of the Events on an inventory, sorted.
func eventReasons(ctx context.Context, inventory string) []string {
	GinkgoHelper()
	var list eventsv1.EventList
	Expect(k8s.List(ctx, &list, client.InNamespace("default"))).To(Succeed())
	var out []string
	for _, e := range list.Items {
		if e.Regarding.Kind == v1.Kind && e.Regarding.Name == inventory {
			out = append(out, e.Reason)
		}
	}
	slices.Sort(out)
	return out
}
