package gpu

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnits(t *testing.T) {
	id := func(driver, pool, device string) DeviceID { return DeviceID{driver, pool, device} }
	const nv, amd = "gpu.nvidia.com", "gpu.amd.com"
	complete := func(driver, name string, devices ...Device) Pool {
		return Pool{Driver: driver, Name: name, Slices: 1, WantSlices: 1, Devices: devices}
	}
	cases := map[string]struct {
		devices *Devices
		want    map[DeviceID][]DeviceID
	}{
		"nothing known": {nil, nil},
		"a GPU is a unit, another thing is none": {
			&Devices{Pools: []Pool{complete(nv, "a", Device{Name: "gpu-0", UUID: "x"}, Device{Name: "nic", Type: "nic"})}},
			map[DeviceID][]DeviceID{id(nv, "a", "gpu-0"): {id(nv, "a", "gpu-0")}, id(nv, "a", "nic"): nil},
		},
		"everything of a card that is published whole takes the card": {
			&Devices{Pools: []Pool{complete(nv, "a",
				Device{Name: "gpu-0", Type: "gpu", UUID: "x", PCIBusID: "0:1"}, Device{Name: "mig-0", Type: "mig", ParentUUID: "x"}, Device{Name: "vfio-0", Type: "vfio", UUID: "other", PCIBusID: "0:1"})}},
			map[DeviceID][]DeviceID{
				id(nv, "a", "gpu-0"): {id(nv, "a", "gpu-0")}, id(nv, "a", "mig-0"): {id(nv, "a", "gpu-0")}, id(nv, "a", "vfio-0"): {id(nv, "a", "gpu-0")},
			},
		},
		"a card that is published in parts is its parts": {
			&Devices{Pools: []Pool{complete(nv, "a", Device{Name: "mig-0", Type: "mig", ParentUUID: "x"}, Device{Name: "mig-1", Type: "mig", ParentUUID: "x"})}},
			map[DeviceID][]DeviceID{id(nv, "a", "mig-0"): {id(nv, "a", "mig-0")}, id(nv, "a", "mig-1"): {id(nv, "a", "mig-1")}},
		},
		"drivers and pools are told apart, and what publishes no GPUs is left out": {
			&Devices{Pools: []Pool{
				complete("compute-domain.nvidia.com", "a", Device{Name: "channel-0"}), complete(amd, "a", Device{Name: "gpu-0", UUID: "x"}),
				complete(nv, "a", Device{Name: "gpu-0", UUID: "x"}), complete(nv, "b", Device{Name: "gpu-0", UUID: "y"}),
			}},
			map[DeviceID][]DeviceID{
				id(amd, "a", "gpu-0"): {id(amd, "a", "gpu-0")}, id(nv, "a", "gpu-0"): {id(nv, "a", "gpu-0")}, id(nv, "b", "gpu-0"): {id(nv, "b", "gpu-0")},
			},
		},
		"an invalid pool is left out": {
			&Devices{Pools: []Pool{{Driver: nv, Name: "a", Slices: 1, WantSlices: 1, Duplicate: "gpu-0", Devices: []Device{{Name: "gpu-0"}, {Name: "gpu-0"}}}}},
			map[DeviceID][]DeviceID{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.devices.Units(Options{})); diff != "" {
				t.Errorf("Units() (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnitsAreWhatARowCounts compares with the rows of the corpus: the units of all devices together are the capacity.
func TestUnitsAreWhatARowCounts(t *testing.T) {
	compared := 0
	for _, c := range loadCorpus(t) {
		reading, _ := c.read()
		taken := map[string]map[DeviceID]bool{}
		for id, units := range c.devices().Units(Options{}) {
			name := DRAResource(id.Driver)
			if taken[name] == nil {
				taken[name] = map[DeviceID]bool{}
			}
			for _, u := range units {
				taken[name][u] = true
			}
		}
		for _, r := range reading.Row.Resources {
			if units := taken[r.Name]; units != nil {
				compared++
				if int64(len(units)) != r.Capacity {
					t.Errorf("%s: %d units of %s, capacity %d", c.name, len(units), r.Name, r.Capacity)
				}
			}
		}
	}
	if compared < 5 {
		t.Errorf("compared %d rows only", compared)
	}
}
