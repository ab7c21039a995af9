package watch

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

func (w *Watcher) nodeReflection() reflection {
	return reflection{
		plural: "Nodes", object: &corev1.Node{}, store: w.nodes,
		list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			var list corev1.NodeList
			return &list, w.core.list(ctx, "nodes", o, &list)
		},
		watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return w.core.watch(ctx, "nodes", o)
		},
	}
}
