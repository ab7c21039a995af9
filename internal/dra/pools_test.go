package dra

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

func TestDevicesByNode(t *testing.T) {
	onNode := func(name string) sliceMod {
		return func(s *resourcev1.ResourceSlice) { s.Spec.NodeName = &name }
	}
	selects := func(key string, values ...string) *corev1.NodeSelector {
		return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}},
		}}}
	}
	reach := func(selector *corev1.NodeSelector) sliceMod {
		return func(s *resourcev1.ResourceSlice) { s.Spec.NodeName, s.Spec.NodeSelector = nil, selector }
	}
	perDevice := func(s *resourcev1.ResourceSlice) {
		s.Spec.NodeName, s.Spec.PerDeviceNodeSelection = nil, new(true)
		s.Spec.Devices[0].NodeName = new("a")
		s.Spec.Devices[1].NodeName = new("b")
	}
	type found struct {
		Complete bool
		Devices  []string
	}
	cases := map[string]struct {
		slices []resourcev1.ResourceSlice
		want   map[string]found
	}{
		"a pool over two nodes is judged as a whole": {
			[]resourcev1.ResourceSlice{slice("1", pool(1, 3), onNode("a"), device("x")), slice("2", pool(1, 3), onNode("b"), device("y"))},
			map[string]found{"a": {false, []string{"x"}}, "b": {false, []string{"y"}}},
		},
		"a slice that only has counters completes the pool": {
			[]resourcev1.ResourceSlice{slice("1", pool(1, 2), device("x")), slice("2", pool(1, 2))},
			map[string]found{"n": {true, []string{"x"}}},
		},
		"a node that only the old generation names waits for the new one": {
			[]resourcev1.ResourceSlice{slice("1", pool(1, 1), onNode("a"), device("x")), slice("2", pool(2, 2), onNode("b"), device("y"))},
			map[string]found{"a": {false, nil}, "b": {false, []string{"y"}}},
		},
		"a node that a complete generation no longer names has nothing": {
			[]resourcev1.ResourceSlice{slice("1", pool(1, 1), onNode("a"), device("x")), slice("2", pool(2, 1), onNode("b"), device("y"))},
			map[string]found{"b": {true, []string{"y"}}},
		},
		"devices that every node reaches are no node's": {
			[]resourcev1.ResourceSlice{slice("1", reach(nil), device("x")), slice("2", pool(1, 2), reach(selects("rack", "r1")), device("y"))},
			map[string]found{},
		},
		"a selector that names one node": {
			[]resourcev1.ResourceSlice{slice("1", reach(selects("kubernetes.io/hostname", "a")), device("x"))},
			map[string]found{"a": {true, []string{"x"}}},
		},
		"a selector that names two": {
			[]resourcev1.ResourceSlice{slice("1", reach(selects("kubernetes.io/hostname", "a", "b")), device("x"))},
			map[string]found{},
		},
		"each device names its node": {
			[]resourcev1.ResourceSlice{slice("1", device("x"), device("y"), perDevice)},
			map[string]found{"a": {true, []string{"x"}}, "b": {true, []string{"y"}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := map[string]found{}
			for node, devices := range DevicesByNode(tc.slices) {
				var f found
				f.Complete = devices.Pools[0].Complete()
				for _, d := range devices.Pools[0].Devices {
					f.Devices = append(f.Devices, d.Name)
				}
				got[node] = f
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("DevicesByNode() (-want +got):\n%s", diff)
			}
		})
	}
}
