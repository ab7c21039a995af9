package dra

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCards(t *testing.T) {
	types := Types{"": GPU, "gpu": GPU, "mig": Part, "vf": VF, "vfio": VFIO}
	gpu0 := Device{Name: "gpu-0", Type: "gpu", UUID: "a", PCIBusID: "0:1"}
	mig0, mig1 := Device{Name: "mig-0", Type: "mig", ParentUUID: "a"}, Device{Name: "mig-1", Type: "mig", ParentUUID: "a"}
	vfio0 := Device{Name: "vfio-0", Type: "vfio", UUID: "derived", PCIBusID: "0:1"}
	vf0, vf1 := Device{Name: "vf-0", Type: "vf"}, Device{Name: "vf-1", Type: "vf"}
	cases := map[string]struct {
		devices []Device
		types   Types
		want    []*Card
		units   []string
	}{
		"everything of a card is one card": {
			devices: []Device{gpu0, mig0, mig1, vfio0}, types: types,
			want: []*Card{{GPU: &gpu0, VFIO: &vfio0, Parts: []*Device{&mig0, &mig1}}}, units: []string{"gpu-0"},
		},
		"parts of a card that is not published": {
			devices: []Device{mig0, mig1}, types: types, want: []*Card{{Parts: []*Device{&mig0, &mig1}}}, units: []string{"mig-0", "mig-1"},
		},
		"the form for virtual machines alone": {
			devices: []Device{vfio0}, types: types, want: []*Card{{VFIO: &vfio0}}, units: []string{"vfio-0"},
		},
		"virtual functions of an unknown number of cards": {
			devices: []Device{vf0, vf1}, types: types, want: []*Card{{Parts: []*Device{&vf0, &vf1}, Uncounted: true}}, units: []string{"vf-0", "vf-1"},
		},
		"virtual functions beside a GPU": {
			devices: []Device{gpu0, vf0, vf1}, types: types, want: []*Card{{GPU: &gpu0}}, units: []string{"gpu-0"},
		},
		"GPUs that nothing identifies are cards of their own": {
			devices: []Device{{Name: "x"}, {Name: "y"}}, types: types, want: []*Card{{GPU: &Device{Name: "x"}}, {GPU: &Device{Name: "y"}}}, units: []string{"x", "y"},
		},
		"an unknown type is no GPU": {devices: []Device{{Name: "c", Type: "channel"}}, types: types},
		"a driver without types publishes GPUs only": {
			devices: []Device{{Name: "c", Type: "channel"}}, want: []*Card{{GPU: &Device{Name: "c", Type: "channel"}}}, units: []string{"c"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Cards([]Pool{{Driver: "d", Name: "n", Devices: tc.devices}}, tc.types)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Cards() (-want +got):\n%s", diff)
			}
			var units []string
			for _, c := range got {
				for _, d := range c.Units() {
					units = append(units, d.Name)
				}
			}
			if diff := cmp.Diff(tc.units, units); diff != "" {
				t.Errorf("units (-want +got):\n%s", diff)
			}
		})
	}
}

func TestByDriver(t *testing.T) {
	d := &Devices{Pools: []Pool{{Driver: "a", Name: "1"}, {Driver: "b", Name: "1"}, {Driver: "b", Name: "2"}, {Driver: "c", Name: "1"}}}
	got := map[string][]string{}
	for driver, pools := range d.ByDriver() {
		if driver == "c" {
			break
		}
		for _, p := range pools {
			got[driver] = append(got[driver], p.Name)
		}
	}
	if diff := cmp.Diff(map[string][]string{"a": {"1"}, "b": {"1", "2"}}, got); diff != "" {
		t.Errorf("ByDriver() (-want +got):\n%s", diff)
	}
	for driver := range (*Devices)(nil).ByDriver() {
		t.Errorf("nothing published has the driver %q", driver)
	}
}
