package watch

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// podReflection leaves out two sorts of Pods that hold nothing. The server leaves out those that have ended or have no node.
// Those that hold no GPU are left out before they reach the reflector, which would keep a place for each until the whole
// list is there.
func (w *Watcher) podReflection() reflection {
	return reflection{
		plural: "Pods", object: &corev1.Pod{}, store: w.pods,
		selector: fields.AndSelectors(
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
			fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
			fields.OneTermNotEqualSelector("spec.nodeName", ""),
		),
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			var list corev1.PodList
			err := w.core.list(ctx, "pods", o, &list)
			list.Items = slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return !w.fleet.HoldsGPUs(&p) })
			return &list, err
		},
		watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			pods, err := w.core.watch(ctx, "pods", o)
			if err != nil {
				return nil, err
			}
			return watch.Filter(pods, w.onlyHolders), nil
		},
	}
}

// onlyHolders turns an event of a Pod that holds nothing into its deletion, which takes no memory. The event is passed on
// all the same: without events the reflector would take the stream for a stalled one.
func (w *Watcher) onlyHolders(e watch.Event) (watch.Event, bool) {
	pod, ok := e.Object.(*corev1.Pod)
	if ok && (e.Type == watch.Added || e.Type == watch.Modified) && !w.fleet.HoldsGPUs(pod) {
		e.Type = watch.Deleted
	}
	return e, true
}
