package watch

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	made "github.com/gpu-inventory/gpu-inventory-operator/test/scale/fleet"
)

func TestThePodsOfTheReflectorAreHolders(t *testing.T) {
	holder, other := made.Pod(0, 1), made.Pod(1, 1)
	ended := holder.DeepCopy()
	ended.Status.Phase = corev1.PodSucceeded
	cases := map[string]struct {
		in   watch.Event
		want watch.EventType
	}{
		"a holder comes":                        {watch.Event{Type: watch.Added, Object: holder}, watch.Added},
		"a holder changes":                      {watch.Event{Type: watch.Modified, Object: holder}, watch.Modified},
		"a holder goes":                         {watch.Event{Type: watch.Deleted, Object: holder}, watch.Deleted},
		"another pod comes":                     {watch.Event{Type: watch.Added, Object: other}, watch.Deleted},
		"another pod may have been a holder":    {watch.Event{Type: watch.Modified, Object: other}, watch.Deleted},
		"another pod goes":                      {watch.Event{Type: watch.Deleted, Object: other}, watch.Deleted},
		"a holder ends":                         {watch.Event{Type: watch.Modified, Object: ended}, watch.Deleted},
		"a bookmark tells how far the watch is": {watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{}}, watch.Bookmark},
		"an error stays an error":               {watch.Event{Type: watch.Error, Object: &metav1.Status{}}, watch.Error},
	}
	w := &Watcher{fleet: fleet.New(gpu.Options{}, true)}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, keep := w.onlyHolders(tc.in)
			if !keep || got.Type != tc.want || got.Object != tc.in.Object {
				t.Errorf("onlyHolders() = %s, %v, want %q", got.Type, keep, tc.want)
			}
		})
	}
}

func TestListsComeInPagesOfTheNewestVersion(t *testing.T) {
	in := metav1.ListOptions{ResourceVersion: "0", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, Limit: 500, Continue: "next"}
	if got, want := paged(in), (metav1.ListOptions{Limit: 500, Continue: "next"}); got != want {
		t.Errorf("paged() = %+v, want %+v", got, want)
	}
}
