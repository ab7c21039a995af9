package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// makeNamespaces makes those of the suite. The operator's lets in nothing that is less than restricted.
func makeNamespaces(ctx context.Context) {
	GinkgoHelper()
	for name, level := range map[string]string{namespace: "restricted", monitoring: "restricted", workloads: "baseline"} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": level},
		}}
		Expect(k8s.Create(ctx, ns)).To(Succeed(), "create namespace %s; a run before this one may have left it", name)
	}
}

// cleanUpLater has the cluster left as it was found, also after a spec has failed half-way. The last one registered runs
// first, and each runs whatever becomes of the others.
func cleanUpLater() {
	DeferCleanup(func(ctx context.Context) {
		for _, name := range []string{namespace, workloads, monitoring} {
			deleteAndWait(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
	}, NodeTimeout(3*time.Minute))
	DeferCleanup(func(ctx context.Context) {
		for _, e := range inventoryEvents(ctx) {
			Expect(client.IgnoreNotFound(k8s.Delete(ctx, &e))).To(Succeed())
		}
	}, NodeTimeout(time.Minute))
	DeferCleanup(func(ctx context.Context) {
		deleteAndWait(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: monitoring}})
		deleteAndWait(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crdName}})
	}, NodeTimeout(time.Minute))
	DeferCleanup(func(context.Context) { Expect(helm.uninstall(true)).To(Succeed()) }, NodeTimeout(3*time.Minute))
	DeferCleanup(func(ctx context.Context) {
		labelGPUNode(ctx, map[string]string{})
		machine.startKubelet(ctx)
		machine.unhealthy(ctx, 0)
		machine.gpus(ctx, 0)
	}, NodeTimeout(time.Minute))
}

func deleteAndWait(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(k8s.Delete(ctx, object))).To(Succeed())
	Eventually(func() bool {
		return apierrors.IsNotFound(k8s.Get(ctx, client.ObjectKeyFromObject(object), object))
	}).WithTimeout(2*time.Minute).Should(BeTrue(), "%T %s is still there", object, object.GetName())
}

// operatorPods are the pods of the Deployment that are not on their way out.
func operatorPods(ctx context.Context) ([]corev1.Pod, error) {
	var pods corev1.PodList
	selector, err := operatorSelector(ctx)
	if err == nil {
		err = k8s.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector})
	}
	var out []corev1.Pod
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			out = append(out, pod)
		}
	}
	return out, err
}

func operatorSelector(ctx context.Context) (labels.Selector, error) {
	var deployment appsv1.Deployment
	if err := k8s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: releaseName}, &deployment); err != nil {
		return nil, err
	}
	return metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
}

func podReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil
		}
	}
	return false
}

// readyPods counts the operator's pods that are ready.
func readyPods(ctx context.Context) func() (int, error) {
	return func() (int, error) {
		pods, err := operatorPods(ctx)
		ready := 0
		for _, pod := range pods {
			if podReady(&pod) {
				ready++
			}
		}
		return ready, err
	}
}

// leader is the name of the pod that holds the Lease; empty while none does.
func leader(ctx context.Context) func() (string, error) {
	return func() (string, error) {
		var lease coordinationv1.Lease
		err := k8s.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "gpu-inventory-operator"}, &lease)
		if err != nil || lease.Spec.HolderIdentity == nil {
			return "", client.IgnoreNotFound(err)
		}
		pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
		return pod, nil
	}
}

// inventory reads the GpuInventory that the chart declares.
func inventory(ctx context.Context) (*v1.GpuInventory, error) {
	var inv v1.GpuInventory
	return &inv, k8s.Get(ctx, client.ObjectKey{Name: "cluster"}, &inv)
}

// counts are the totals of a status; -1 is unknown.
type counts struct{ Nodes, ReadyNodes, GPUs, ReadyGPUs, Free int32 }

// totals reads those of the GpuInventory.
func totals(ctx context.Context) func() (counts, error) {
	return func() (counts, error) {
		inv, err := inventory(ctx)
		s := inv.Status
		return counts{
			Nodes: ptr.Deref(s.TotalGpuNodes, -1), ReadyNodes: ptr.Deref(s.ReadyGpuNodes, -1),
			GPUs: ptr.Deref(s.TotalGpus, -1), ReadyGPUs: ptr.Deref(s.ReadyGpus, -1), Free: ptr.Deref(s.FreeGpus, -1),
		}, err
	}
}

// row reads what the GpuInventory says about a Node; without a name while it says nothing.
func row(ctx context.Context, node string) func() (v1.GpuNode, error) {
	return func() (v1.GpuNode, error) {
		inv, err := inventory(ctx)
		for _, r := range inv.Status.Nodes {
			if r.Name == node {
				return r, err
			}
		}
		return v1.GpuNode{}, err
	}
}

// condition reads one of the GpuInventory's conditions as "status reason"; empty while there is none.
func condition(ctx context.Context, name string) func() (string, error) {
	return func() (string, error) {
		inv, err := inventory(ctx)
		if c := meta.FindStatusCondition(inv.Status.Conditions, name); c != nil {
			return string(c.Status) + " " + c.Reason, err
		}
		return "", err
	}
}

// inventoryEvents are the Events about GpuInventories.
func inventoryEvents(ctx context.Context) []eventsv1.Event {
	GinkgoHelper()
	var list eventsv1.EventList
	Expect(k8s.List(ctx, &list, client.InNamespace(metav1.NamespaceDefault))).To(Succeed())
	var out []eventsv1.Event
	for _, e := range list.Items {
		if e.Regarding.Kind == v1.Kind {
			out = append(out, e)
		}
	}
	return out
}

// reported are the Events so far: how often each was reported, by reason and Node.
func reported(ctx context.Context) map[string]int32 {
	GinkgoHelper()
	counts := map[string]int32{}
	for _, e := range inventoryEvents(ctx) {
		key := e.Reason
		if e.Related != nil {
			key += " " + e.Related.Name
		}
		counts[key]++
		if e.Series != nil {
			counts[key] += e.Series.Count - 1
		}
	}
	return counts
}

// expectEvent waits for one more Event of the reason about the Node than before had.
func expectEvent(ctx context.Context, before map[string]int32, reason, node string) {
	GinkgoHelper()
	key := fmt.Sprintf("%s %s", reason, node)
	Eventually(func() int32 { return reported(ctx)[key] }).Should(BeNumerically(">", before[key]), "Events %s", key)
}
