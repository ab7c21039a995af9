// Command floor is the least that a program in Go can do for the same answer: a bare client-go reflector for Nodes and one
// for Pods, into a store that keeps the same few facts of each, and one merge PATCH of an equally big status at each
// change. It has no manager, no election, no retries, no metrics. What the operator costs is measured against it.
//
// It prints "nodes" and "pods" when each has been read.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const gpuResource = "nvidia.com/gpu"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of a kubeconfig file")
	path := flag.String("path", "", "API path of the object whose status is written; empty: none")
	status := flag.String("status", "", "file with a status as JSON, without readyGpuNodes")
	pods := flag.Bool("pods", true, "read Pods")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *kubeconfig, *path, *status, *pods); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, kubeconfig, path, statusFile string, pods bool) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	cfg.GroupVersion, cfg.APIPath, cfg.ContentType, cfg.QPS = &corev1.SchemeGroupVersion, "/api", runtime.ContentTypeProtobuf, -1
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(cfg)
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	var writer *writer
	if path != "" {
		if writer, err = newWriter(client, path, statusFile); err != nil {
			return err
		}
		go writer.run(ctx)
	}
	if pods {
		go watchPods(ctx, client)
	}
	watchNodes(ctx, client, writer)
	return nil
}

// nodeFacts is what is kept of a Node.
type nodeFacts struct {
	product unique.Handle[string]
	gpus    int32
	ready   bool
}

func watchNodes(ctx context.Context, client rest.Interface, w *writer) {
	s := &store[nodeFacts]{name: "nodes", facts: map[string]nodeFacts{}}
	s.reduce = func(obj any) (string, nodeFacts, bool) {
		n := obj.(*corev1.Node)
		q := n.Status.Allocatable[gpuResource]
		f := nodeFacts{product: unique.Make(n.Labels["nvidia.com/gpu.product"]), gpus: int32(q.Value())}
		for _, c := range n.Status.Conditions {
			f.ready = f.ready || c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}
		return n.Name, f, true
	}
	if w != nil {
		s.changed = func() { w.changed(s.count(func(f nodeFacts) bool { return f.ready })) }
	}
	s.watch(ctx, client, "nodes", &corev1.Node{}, fields.Everything())
}

// podFacts is what is kept of a Pod that holds GPUs.
type podFacts struct {
	node unique.Handle[string]
	gpus int32
}

func watchPods(ctx context.Context, client rest.Interface) {
	s := &store[podFacts]{name: "pods", facts: map[string]podFacts{}}
	s.reduce = func(obj any) (string, podFacts, bool) {
		p := obj.(*corev1.Pod)
		var gpus int64
		for i := range p.Spec.Containers {
			q := p.Spec.Containers[i].Resources.Requests[gpuResource]
			gpus += q.Value()
		}
		if gpus == 0 {
			return p.Namespace + "/" + p.Name, podFacts{}, false
		}
		return p.Namespace + "/" + p.Name, podFacts{unique.Make(p.Spec.NodeName), int32(gpus)}, true
	}
	s.watch(ctx, client, "pods", &corev1.Pod{}, fields.ParseSelectorOrDie("status.phase!=Succeeded,status.phase!=Failed,spec.nodeName!="))
}

// store is a reflector's store that keeps facts.
type store[T comparable] struct {
	name    string
	reduce  func(any) (key string, facts T, keep bool)
	changed func() // nil: nobody wants to know

	mu    sync.Mutex
	facts map[string]T
}

// kept is what a list that is still arriving keeps of an object.
type kept[T any] struct {
	key   string
	facts T
	keep  bool
}

func (s *store[T]) watch(ctx context.Context, client rest.Interface, resource string, example runtime.Object, selector fields.Selector) {
	lw := cache.NewListWatchFromClient(client, resource, metav1.NamespaceAll, selector)
	cache.NewReflectorWithOptions(lw, example, s, cache.ReflectorOptions{Name: s.name}).RunWithContext(ctx)
}

func (s *store[T]) count(is func(T) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.facts {
		if is(f) {
			n++
		}
	}
	return n
}

// Transformer implements cache.TransformingStore.
func (s *store[T]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		if k, ok := obj.(kept[T]); ok {
			return k, nil
		}
		var k kept[T]
		k.key, k.facts, k.keep = s.reduce(obj)
		return k, nil
	}
}

// Add implements cache.ReflectorStore.
func (s *store[T]) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *store[T]) Update(obj any) error {
	key, facts, keep := s.reduce(obj)
	s.mu.Lock()
	before, had := s.facts[key]
	if keep {
		s.facts[key] = facts
	} else {
		delete(s.facts, key)
	}
	s.mu.Unlock()
	if s.changed != nil && (had != keep || before != facts) {
		s.changed()
	}
	return nil
}

// Delete implements cache.ReflectorStore.
func (s *store[T]) Delete(obj any) error {
	key, _, _ := s.reduce(obj)
	s.mu.Lock()
	delete(s.facts, key)
	s.mu.Unlock()
	return nil
}

// Replace implements cache.ReflectorStore.
func (s *store[T]) Replace(list []any, _ string) error {
	facts := make(map[string]T, len(list))
	transform := s.Transformer()
	for _, obj := range list {
		if k, _ := transform(obj); k.(kept[T]).keep {
			facts[k.(kept[T]).key] = k.(kept[T]).facts
		}
	}
	s.mu.Lock()
	s.facts = facts
	s.mu.Unlock()
	fmt.Println(s.name)
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *store[T]) Resync() error { return nil }

// writer writes a status in which only readyGpuNodes changes.
type writer struct {
	client rest.Interface
	path   string
	rest   []byte // of the status, after readyGpuNodes
	ready  atomic.Int64
	wake   chan struct{}
}

func newWriter(client rest.Interface, path, statusFile string) (*writer, error) {
	status, err := os.ReadFile(statusFile)
	if err != nil {
		return nil, fmt.Errorf("read status: %w", err)
	}
	return &writer{client: client, path: path, rest: status[1:], wake: make(chan struct{}, 1)}, nil
}

func (w *writer) changed(ready int) {
	w.ready.Store(int64(ready))
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *writer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
		body := fmt.Appendf(nil, `{"status":{"readyGpuNodes":%d,`, w.ready.Load())
		body = append(append(body, w.rest...), '}')
		if err := w.client.Patch(types.MergePatchType).AbsPath(w.path).Body(body).Do(ctx).Error(); err != nil && ctx.Err() == nil {
			log.Fatal(fmt.Errorf("patch %s: %w", w.path, err))
		}
	}
}
