package source

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestPace(t *testing.T) {
	var p Pace
	key, other := types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"}
	now := time.Unix(1000, 0)
	if got := p.Next(key, now); got != 0 {
		t.Errorf("a first attempt waits %s", got)
	}
	if got := p.Next(key, now.Add(300*time.Millisecond)); got != 700*time.Millisecond {
		t.Errorf("an attempt 300 ms after another waits %s, want 700 ms", got)
	}
	if got := p.Next(other, now); got != 0 {
		t.Errorf("another object waits %s", got)
	}
	if got := p.Next(key, now.Add(MinWriteInterval)); got != 0 {
		t.Errorf("an attempt after the interval waits %s", got)
	}
	p.Forget(key)
	if got := p.Next(key, now.Add(MinWriteInterval)); got != 0 {
		t.Errorf("an object made anew waits %s", got)
	}
}
