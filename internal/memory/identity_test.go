package memory

import (
	"testing"
	"time"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

func TestMemoryEndsWithTheNode(t *testing.T) {
	old := Node{Name: "a", UID: "1", Created: start.Add(-time.Hour), Hardware: gpu.HardwareSeen}
	cases := map[string]struct {
		before func(*Store)
		id     Node
		want   bool // still a GPU node
	}{
		"the same Node keeps it": {id: old, want: true},
		"a clock that goes wrong does not make it another": {
			id: Node{Name: "a", UID: "1", Created: start.Add(time.Hour)}, want: true,
		},
		"another UID": {id: Node{Name: "a", UID: "2", Created: start.Add(-time.Hour)}},
		"created after the facts were seen, where no UID tells": {
			id: Node{Name: "a", Created: start.Add(time.Hour)},
		},
		"the Node went": {before: func(m *Store) { m.Forget("a") }, id: old},
		"another Node went": {
			before: func(m *Store) { m.Forget("b") }, id: old, want: true,
		},
		"feature discovery runs and sees no GPU where it saw one": {
			id: Node{Name: "a", UID: "1", Created: old.Created, Hardware: gpu.HardwareAbsent},
		},
		"feature discovery has gone as well": {
			id: Node{Name: "a", UID: "1", Created: old.Created, Hardware: gpu.HardwareUnknown}, want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var m Store
			m.Recall(old, *labelled(8), true, start)
			if tc.before != nil {
				tc.before(&m)
			}
			for range 2 {
				if _, got := m.Recall(tc.id, *bare(true, v1.ReasonOK, ""), false, start.Add(2*time.Hour)); got != tc.want {
					t.Errorf("GPU node %v, want %v", got, tc.want)
				}
			}
		})
	}
}

func TestHardwareIsRememberedThoughNothingElseIsKnown(t *testing.T) {
	for hardware, want := range map[gpu.Hardware]bool{gpu.HardwareSeen: true, gpu.HardwareUnknown: false} {
		var m Store
		m.Recall(Node{Name: "a", UID: "1", Hardware: hardware}, *wiped(0, unlabelled), true, start)
		if _, got := m.Recall(Node{Name: "a", UID: "1"}, *bare(true, v1.ReasonOK, ""), false, start); got != want {
			t.Errorf("GPU node %v after hardware %d, want %v", got, hardware, want)
		}
	}
}

func TestAbsenceOfHardwareNeedsItsPresence(t *testing.T) {
	var m Store
	id := Node{Name: "a", UID: "1", Hardware: gpu.HardwareAbsent} // feature discovery is configured not to look for GPUs
	m.Recall(id, *labelled(8), true, start)
	if _, ok := m.Recall(id, *bare(true, v1.ReasonOK, ""), false, start); !ok {
		t.Error("forgotten, though feature discovery never saw the GPUs")
	}
}
