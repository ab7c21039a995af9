package e2e

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// dump writes down what helps to understand a failure. What cannot be read is said and passed over.
func dump(ctx context.Context) {
	var nodes corev1.NodeList
	if err := k8s.List(ctx, &nodes); err != nil {
		say("list nodes: %v", err)
	}
	for _, node := range nodes.Items {
		say("node %s: labels %v\ncapacity %v\nallocatable %v\nconditions %s",
			node.Name, node.Labels, node.Status.Capacity, node.Status.Allocatable, asYAML(node.Status.Conditions))
	}
	var inventories v1.GpuInventoryList
	if err := k8s.List(ctx, &inventories); err != nil {
		say("list gpuinventories: %v", err)
	}
	for _, inv := range inventories.Items {
		inv.ManagedFields = nil
		say("gpuinventory %s:\n%s", inv.Name, asYAML(inv))
	}
	for _, ns := range []string{namespace, monitoring, workloads} {
		dumpPods(ctx, ns)
	}
	for _, ns := range []string{"default", namespace, monitoring, workloads} {
		dumpEvents(ctx, ns)
	}
}

func dumpPods(ctx context.Context, ns string) {
	var pods corev1.PodList
	if err := k8s.List(ctx, &pods, client.InNamespace(ns)); err != nil {
		say("list pods of %s: %v", ns, err)
	}
	for _, pod := range pods.Items {
		say("pod %s/%s on %s:\n%s", ns, pod.Name, pod.Spec.NodeName, asYAML(pod.Status))
		for _, c := range pod.Spec.Containers {
			options := &corev1.PodLogOptions{Container: c.Name, TailLines: new(int64(100))}
			log, err := clientset.CoreV1().Pods(ns).GetLogs(pod.Name, options).DoRaw(ctx)
			say("log of %s/%s, container %s (%v):\n%s", ns, pod.Name, c.Name, err, log)
		}
	}
}

func dumpEvents(ctx context.Context, ns string) {
	var events eventsv1.EventList
	if err := k8s.List(ctx, &events, client.InNamespace(ns)); err != nil {
		say("list events of %s: %v", ns, err)
	}
	var lines []string
	for _, e := range events.Items {
		lines = append(lines, fmt.Sprintf("%s %s %s %s/%s: %s", e.CreationTimestamp.Format("15:04:05"), e.Type, e.Reason, e.Regarding.Kind, e.Regarding.Name, e.Note))
	}
	say("events of %s:\n%s", ns, strings.Join(lines, "\n"))
}

func say(format string, args ...any) { _, _ = fmt.Fprintf(GinkgoWriter, "\n--- "+format+"\n", args...) }

func asYAML(v any) string {
	out, err := yaml.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}
