package gpu

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
)

func TestDeviceUnits(t *testing.T) {
	id := func(driver, pool, device string) dra.DeviceID {
		return dra.DeviceID{Driver: driver, Pool: pool, Device: device}
	}
	const nv, amd = "gpu.nvidia.com", "gpu.amd.com"
	complete := func(driver, name string, devices ...dra.Device) dra.Pool {
		return dra.Pool{Driver: driver, Name: name, Slices: 1, WantSlices: 1, Devices: devices}
	}
	cases := map[string]struct {
		devices *dra.Devices
		want    map[dra.DeviceID][]dra.DeviceID
	}{
		"nothing known": {nil, nil},
		"a GPU is a unit, another thing is none": {
			&dra.Devices{Pools: []dra.Pool{complete(nv, "a", dra.Device{Name: "gpu-0", UUID: "x"}, dra.Device{Name: "nic", Type: "nic"})}},
			map[dra.DeviceID][]dra.DeviceID{id(nv, "a", "gpu-0"): {id(nv, "a", "gpu-0")}, id(nv, "a", "nic"): nil},
		},
		"everything of a card that is published whole takes the card": {
			&dra.Devices{Pools: []dra.Pool{complete(nv, "a",
				dra.Device{Name: "gpu-0", Type: "gpu", UUID: "x", PCIBusID: "0:1"}, dra.Device{Name: "mig-0", Type: "mig", ParentUUID: "x"}, dra.Device{Name: "vfio-0", Type: "vfio", UUID: "other", PCIBusID: "0:1"})}},
			map[dra.DeviceID][]dra.DeviceID{
				id(nv, "a", "gpu-0"): {id(nv, "a", "gpu-0")}, id(nv, "a", "mig-0"): {id(nv, "a", "gpu-0")}, id(nv, "a", "vfio-0"): {id(nv, "a", "gpu-0")},
			},
		},
		"a card that is published in parts is its parts": {
			&dra.Devices{Pools: []dra.Pool{complete(nv, "a", dra.Device{Name: "mig-0", Type: "mig", ParentUUID: "x"}, dra.Device{Name: "mig-1", Type: "mig", ParentUUID: "x"})}},
			map[dra.DeviceID][]dra.DeviceID{id(nv, "a", "mig-0"): {id(nv, "a", "mig-0")}, id(nv, "a", "mig-1"): {id(nv, "a", "mig-1")}},
		},
		"drivers and pools are told apart, and what publishes no GPUs is left out": {
			&dra.Devices{Pools: []dra.Pool{
				complete("compute-domain.nvidia.com", "a", dra.Device{Name: "channel-0"}), complete(amd, "a", dra.Device{Name: "gpu-0", UUID: "x"}),
				complete(nv, "a", dra.Device{Name: "gpu-0", UUID: "x"}), complete(nv, "b", dra.Device{Name: "gpu-0", UUID: "y"}),
			}},
			map[dra.DeviceID][]dra.DeviceID{
				id(amd, "a", "gpu-0"): {id(amd, "a", "gpu-0")}, id(nv, "a", "gpu-0"): {id(nv, "a", "gpu-0")}, id(nv, "b", "gpu-0"): {id(nv, "b", "gpu-0")},
			},
		},
		"an invalid pool is left out": {
			&dra.Devices{Pools: []dra.Pool{{Driver: nv, Name: "a", Slices: 1, WantSlices: 1, Duplicate: "gpu-0", Devices: []dra.Device{{Name: "gpu-0"}, {Name: "gpu-0"}}}}},
			map[dra.DeviceID][]dra.DeviceID{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, DeviceUnits(tc.devices, Options{})); diff != "" {
				t.Errorf("DeviceUnits() (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnitsAreWhatARowCounts compares with the rows of the corpus: the units of all devices together are the capacity.
func TestUnitsAreWhatARowCounts(t *testing.T) {
	compared := 0
	for _, c := range loadCorpus(t) {
		reading, _ := c.read()
		taken := map[string]map[dra.DeviceID]bool{}
		for id, units := range DeviceUnits(c.devices(), Options{}) {
			name := DRAResource(id.Driver)
			if taken[name] == nil {
				taken[name] = map[dra.DeviceID]bool{}
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
