package publish

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestWritesArePaced(t *testing.T) {
	var r Record[*corev1.ConfigMap]
	key, other := types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"}
	now := time.Unix(1000, 0)
	if got := r.attempt(key, now); got != 0 {
		t.Errorf("a first attempt waits %s", got)
	}
	if got := r.attempt(key, now.Add(300*time.Millisecond)); got != 700*time.Millisecond {
		t.Errorf("an attempt 300 ms after another waits %s, want 700 ms", got)
	}
	if got := r.attempt(other, now); got != 0 {
		t.Errorf("another object waits %s", got)
	}
	if got := r.attempt(key, now.Add(WriteInterval)); got != 0 {
		t.Errorf("an attempt after the interval waits %s", got)
	}
	r.Forget(key)
	if got := r.attempt(key, now.Add(WriteInterval)); got != 0 {
		t.Errorf("an object made anew waits %s", got)
	}
}
