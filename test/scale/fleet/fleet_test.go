package fleet

import (
	"encoding/json"
	"testing"
)

func TestObjectsAreAsLargeAsSaid(t *testing.T) {
	// The API server adds managedFields, about 4 kB to a Node and 2 kB to a Pod.
	cases := map[string]struct {
		object   any
		min, max int
	}{
		"a Node": {Node(7), 17_000, 22_000},
		"a Pod":  {Pod(7, 10), 4_000, 7_000},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(tc.object)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) < tc.min || len(text) > tc.max {
				t.Errorf("%s has %d bytes of JSON, want %d to %d", name, len(text), tc.min, tc.max)
			}
		})
	}
	n := Node(7)
	for what, got := range map[string][2]int{
		"labels": {len(n.Labels), 90}, "annotations": {len(n.Annotations), 13}, "images": {len(n.Status.Images), 50},
		"conditions": {len(n.Status.Conditions), 8},
	} {
		if got[0] != got[1] {
			t.Errorf("%d %s, want %d", got[0], what, got[1])
		}
	}
}

func TestEveryFifthPodHoldsAGPU(t *testing.T) {
	var gpus int64
	for i := range 100 {
		q := Pod(i, 10).Spec.Containers[0].Resources.Requests[GPUResource]
		if q.Value() != PodGPUs(i) {
			t.Errorf("pod %d requests %d GPUs, PodGPUs() = %d", i, q.Value(), PodGPUs(i))
		}
		gpus += q.Value()
	}
	if gpus != 20 {
		t.Errorf("100 pods hold %d GPUs, want 20", gpus)
	}
}
