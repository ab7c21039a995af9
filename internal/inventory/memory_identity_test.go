package inventory

import (
	"testing"
	"time"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
)

func TestMemoryEndsWithTheNode(t *testing.T) {
	old := NodeIdentity{Name: "a", UID: "1", Created: start.Add(-time.Hour), Hardware: HardwareSeen}
	cases := map[string]struct {
		before func(*Memory)
		id     NodeIdentity
		want   bool // still a GPU node
	}{
		"the same Node keeps it": {id: old, want: true},
		"a clock that goes wrong does not make it another": {
			id: NodeIdentity{Name: "a", UID: "1", Created: start.Add(time.Hour)}, want: true,
		},
		"another UID": {id: NodeIdentity{Name: "a", UID: "2", Created: start.Add(-time.Hour)}},
		"created after the facts were seen, where no UID tells": {
			id: NodeIdentity{Name: "a", Created: start.Add(time.Hour)},
		},
		"the Node went": {before: func(m *Memory) { m.Forget("a") }, id: old},
		"another Node went": {
			before: func(m *Memory) { m.Forget("b") }, id: old, want: true,
		},
		"feature discovery runs and sees no GPU where it saw one": {
			id: NodeIdentity{Name: "a", UID: "1", Created: old.Created, Hardware: HardwareAbsent},
		},
		"feature discovery has gone as well": {
			id: NodeIdentity{Name: "a", UID: "1", Created: old.Created, Hardware: HardwareUnknown}, want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var m Memory
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
	for hardware, want := range map[Hardware]bool{HardwareSeen: true, HardwareUnknown: false} {
		var m Memory
		m.Recall(NodeIdentity{Name: "a", UID: "1", Hardware: hardware}, *wiped(0, unlabelled), true, start)
		if _, got := m.Recall(NodeIdentity{Name: "a", UID: "1"}, *bare(true, v1.ReasonOK, ""), false, start); got != want {
			t.Errorf("GPU node %v after hardware %d, want %v", got, hardware, want)
		}
	}
}

func TestAbsenceOfHardwareNeedsItsPresence(t *testing.T) {
	var m Memory
	id := NodeIdentity{Name: "a", UID: "1", Hardware: HardwareAbsent} // feature discovery is configured not to look for GPUs
	m.Recall(id, *labelled(8), true, start)
	if _, ok := m.Recall(id, *bare(true, v1.ReasonOK, ""), false, start); !ok {
		t.Error("forgotten, though feature discovery never saw the GPUs")
	}
}

func TestHardwareOf(t *testing.T) {
	cases := map[string]struct {
		labels map[string]string
		want   Hardware
	}{
		"no labels":          {want: HardwareUnknown},
		"labels of others":   {labels: map[string]string{"nvidia.com/gpu.present": "true"}, want: HardwareUnknown},
		"a GPU on the bus":   {labels: map[string]string{"feature.node.kubernetes.io/pci-0302_10de.present": "true"}, want: HardwareSeen},
		"a rule for Intel":   {labels: map[string]string{"intel.feature.node.kubernetes.io/gpu": "true"}, want: HardwareSeen},
		"no GPU on the bus":  {labels: map[string]string{"feature.node.kubernetes.io/pci-0200_8086.present": "true"}, want: HardwareAbsent},
		"nothing of the bus": {labels: map[string]string{"feature.node.kubernetes.io/cpu-cpuid.AVX2": "true"}, want: HardwareAbsent},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := HardwareOf(labelset.Of(tc.labels)); got != tc.want {
				t.Errorf("HardwareOf() = %d, want %d", got, tc.want)
			}
		})
	}
}
