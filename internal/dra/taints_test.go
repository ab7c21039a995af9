package dra

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAddTaints(t *testing.T) {
	devices := func() map[string]*Devices {
		return map[string]*Devices{"n": {Pools: []Pool{
			{Driver: "gpu.nvidia.com", Name: "n", Devices: []Device{{Name: "gpu-0"}, {Name: "gpu-1", Taints: []DeviceTaint{{Key: "own"}}}}},
			{Driver: "gpu.amd.com", Name: "n", Devices: []Device{{Name: "gpu-0"}}},
			{Driver: "gpu.amd.com", Name: "m", Devices: []Device{{Name: "gpu-0"}}},
		}}}
	}
	rule := func(name string, driver, pool, device *string) *TaintRule {
		return &TaintRule{Name: name, Driver: driver, Pool: pool, Device: device, Taint: DeviceTaint{Key: name}}
	}
	cases := map[string]struct {
		rules []*TaintRule
		want  map[string][]string // keys of taints, by driver/pool/device
	}{
		"no rules": {nil, map[string][]string{"gpu.nvidia.com/n/gpu-1": {"own"}}},
		"a rule that selects nothing in particular": {
			[]*TaintRule{rule("all", nil, nil, nil)},
			map[string][]string{"gpu.nvidia.com/n/gpu-0": {"all"}, "gpu.nvidia.com/n/gpu-1": {"own", "all"}, "gpu.amd.com/n/gpu-0": {"all"}, "gpu.amd.com/m/gpu-0": {"all"}},
		},
		"by driver": {
			[]*TaintRule{rule("r", new("gpu.amd.com"), nil, nil)},
			map[string][]string{"gpu.nvidia.com/n/gpu-1": {"own"}, "gpu.amd.com/n/gpu-0": {"r"}, "gpu.amd.com/m/gpu-0": {"r"}},
		},
		"by driver, pool and device": {
			[]*TaintRule{rule("r", new("gpu.amd.com"), new("m"), new("gpu-0")), rule("other", new("gpu.amd.com"), new("m"), new("gpu-1"))},
			map[string][]string{"gpu.nvidia.com/n/gpu-1": {"own"}, "gpu.amd.com/m/gpu-0": {"r"}},
		},
		"rules apply in the order of their names": {
			[]*TaintRule{rule("b", nil, new("m"), nil), rule("a", nil, new("m"), nil)},
			map[string][]string{"gpu.nvidia.com/n/gpu-1": {"own"}, "gpu.amd.com/m/gpu-0": {"a", "b"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in, got := devices(), map[string][]string{}
			AddTaints(in, tc.rules)
			for _, p := range in["n"].Pools {
				for _, d := range p.Devices {
					for _, taint := range d.Taints {
						id := p.Driver + "/" + p.Name + "/" + d.Name
						got[id] = append(got[id], taint.Key)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("AddTaints() (-want +got):\n%s", diff)
			}
		})
	}
}
