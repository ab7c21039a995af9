package publish

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestNewestIsTheNewer(t *testing.T) {
	cm := func(uid, version string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: types.UID(uid), ResourceVersion: version}}
	}
	cases := map[string]struct {
		wrote, cached *corev1.ConfigMap
		wantCached    bool
	}{
		"nothing written":                   {cached: cm("1", "5"), wantCached: true},
		"the cache lags behind the write":   {wrote: cm("1", "10"), cached: cm("1", "9")},
		"the cache has caught up":           {wrote: cm("1", "10"), cached: cm("1", "10"), wantCached: true},
		"somebody wrote after us":           {wrote: cm("1", "10"), cached: cm("1", "11"), wantCached: true},
		"the object was made anew":          {wrote: cm("1", "10"), cached: cm("2", "9"), wantCached: true},
		"versions are numbers, not text":    {wrote: cm("1", "9"), cached: cm("1", "10"), wantCached: true},
		"a version that cannot be compared": {wrote: cm("1", "x"), cached: cm("1", "9"), wantCached: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var record Record[*corev1.ConfigMap]
			if tc.wrote != nil {
				record.wrote(tc.wrote, nil, time.Unix(0, 0))
			}
			want := tc.wrote
			if tc.wantCached {
				want = tc.cached
			}
			if got := record.Newest(tc.cached); got != want {
				t.Errorf("Newest() = %s/%s, want %s/%s", got.UID, got.ResourceVersion, want.UID, want.ResourceVersion)
			}
		})
	}
}

func TestARecordKnowsItsEcho(t *testing.T) {
	var record Record[*corev1.ConfigMap]
	obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", ResourceVersion: "10"}}
	if record.IsEcho(obj) {
		t.Error("an echo of nothing")
	}
	record.wrote(obj.DeepCopy(), nil, time.Unix(0, 0))
	if !record.IsEcho(obj) {
		t.Error("the write itself is no echo")
	}
	later := obj.DeepCopy()
	later.ResourceVersion = "11"
	if record.IsEcho(later) {
		t.Error("a later version is an echo")
	}
	record.Forget(types.NamespacedName{Name: "a"})
	if record.IsEcho(obj) {
		t.Error("an echo of what was forgotten")
	}
}

func TestAnObjectThatTheCacheNeverSawIsGoneAfterAWhile(t *testing.T) {
	var record Record[*corev1.ConfigMap]
	key := types.NamespacedName{Name: "a"}
	at := time.Unix(1000, 0)
	if _, ok := record.Created(key, at); ok {
		t.Error("something unseen before a write")
	}
	record.wrote(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", ResourceVersion: "10"}}, nil, at)
	if _, ok := record.Created(key, at.Add(cacheLag)); !ok {
		t.Error("what was just written is taken for deleted")
	}
	if _, ok := record.Created(key, at.Add(cacheLag+time.Second)); ok {
		t.Error("what the cache never saw is taken to be there for ever")
	}
}
