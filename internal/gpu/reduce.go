package gpu

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reduce removes from a Node, in place, everything that Read does not look at: it makes the Node of a cache a fraction of its
// size. What stays is the identity, times of creation and deletion, all labels (selectors need them), the annotations,
// resources and conditions that Read knows, and whether the Node is cordoned. Heartbeats go. Reducing twice changes nothing.
func Reduce(n *corev1.Node, opts Options) {
	*n = corev1.Node{
		TypeMeta: n.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Name:              n.Name,
			UID:               n.UID,
			ResourceVersion:   n.ResourceVersion,
			CreationTimestamp: n.CreationTimestamp,
			DeletionTimestamp: n.DeletionTimestamp,
			Labels:            n.Labels,
			Annotations:       reduceAnnotations(n.Annotations),
		},
		Spec: corev1.NodeSpec{Unschedulable: n.Spec.Unschedulable},
		Status: corev1.NodeStatus{
			Capacity:    reduceResources(n.Status.Capacity, opts),
			Allocatable: reduceResources(n.Status.Allocatable, opts),
			Conditions:  reduceConditions(n.Status.Conditions),
		},
	}
}

func reduceAnnotations(in map[string]string) map[string]string {
	maps.DeleteFunc(in, func(key, _ string) bool { return !ReadsAnnotation(key) })
	if len(in) == 0 {
		return nil
	}
	return in
}

// ReadsAnnotation reports whether Read looks at the annotation.
func ReadsAnnotation(key string) bool {
	return key == annotationKWOK || key == annotationHandshake || isHAMiAnnotation(key)
}

// reduceResources keeps the names that can be GPUs. A list that was there stays, because a missing one means something else.
func reduceResources(in corev1.ResourceList, opts Options) corev1.ResourceList {
	maps.DeleteFunc(in, func(name corev1.ResourceName, _ resource.Quantity) bool {
		_, ok := Classify(string(name), opts)
		return !ok || !strings.Contains(string(name), "/")
	})
	return in
}

// reduceConditions keeps the types that Read knows, without heartbeats.
func reduceConditions(in []corev1.NodeCondition) []corev1.NodeCondition {
	var out []corev1.NodeCondition
	for _, c := range in {
		_, health := healthConditions[c.Type]
		_, pressure := pressures[c.Type]
		if !health && !pressure && c.Type != corev1.NodeReady {
			continue
		}
		c.LastHeartbeatTime = metav1.Time{}
		out = append(out, c)
	}
	return out
}
