package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

// readObjects reads the Nodes and Pods of a file that holds lists as kubectl prints them, one to a document.
func readObjects(path string) ([]client.Object, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read objects: %w", err)
	}
	var objects []client.Object
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		var list metav1.List
		if err := yaml.Unmarshal([]byte(document), &list); err != nil {
			return nil, fmt.Errorf("decode %s: %w", path, err)
		}
		for _, item := range list.Items {
			o, err := runtime.Decode(clientgoscheme.Codecs.UniversalDeserializer(), item.Raw)
			if err != nil {
				return nil, fmt.Errorf("decode %s: %w", path, err)
			}
			objects = append(objects, o.(client.Object))
		}
	}
	return objects, nil
}

// load creates the objects with their status, which the API server takes in a request of its own.
func (d *demo) load(ctx context.Context, objects []client.Object) error {
	for _, o := range objects {
		var err error
		switch o := o.(type) {
		case *corev1.Node:
			err = harness.CreateNode(ctx, d.controlPlane.Client, o)
		case *corev1.Pod:
			err = d.createPod(ctx, o)
		default:
			err = fmt.Errorf("load %T: only Nodes and Pods are expected", o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) createPod(ctx context.Context, pod *corev1.Pod) error {
	status := pod.Status
	if err := d.controlPlane.Client.Create(ctx, pod); err != nil {
		return fmt.Errorf("create pod %s: %w", pod.Name, err)
	}
	pod.Status = status
	if err := d.controlPlane.Client.Status().Update(ctx, pod); err != nil {
		return fmt.Errorf("update status of pod %s: %w", pod.Name, err)
	}
	return nil
}

// remove deletes the objects, Pods without waiting for a kubelet.
func (d *demo) remove(ctx context.Context, objects []client.Object) error {
	for _, o := range objects {
		if err := d.controlPlane.Client.Delete(ctx, o, client.GracePeriodSeconds(0)); err != nil {
			return fmt.Errorf("delete %s: %w", o.GetName(), err)
		}
	}
	return nil
}
