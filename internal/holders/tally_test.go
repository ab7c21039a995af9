package holders

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// pool is what the NVIDIA driver publishes for a node, in a pool of a name.
func pool(name string, devices ...dra.Device) *dra.Devices {
	return &dra.Devices{Pools: []dra.Pool{{Driver: nvidiaDriver, Name: name, Slices: 1, WantSlices: 1, Devices: devices}}}
}

func card(name, pci string) dra.Device { return dra.Device{Name: name, Type: "gpu", PCIBusID: pci} }

func part(name, pci string) dra.Device { return dra.Device{Name: name, Type: "mig", ParentPCI: pci} }

func claimed(namespace string, devices ...dra.DeviceID) Claim {
	return Claim{Namespace: namespace, Devices: devices}
}

const draUnits = "dra:" + nvidiaDriver

func TestTallyOfPods(t *testing.T) {
	tally := NewTally(gpu.Options{})
	train := Holding{Node: "a", Namespace: "x", Units: []ResourceUnits{{gpuName, 2}, {"nvidia.com/mig-1g.10gb", 1}}}
	tally.Add(train)
	tally.Add(Holding{Node: "a", Namespace: "y", Units: []ResourceUnits{{gpuName, 1}}})
	tally.Add(Holding{Node: "b", Namespace: "x", Units: []ResourceUnits{{gpuName, 4}}})
	tally.Add(Holding{Node: "c", Namespace: "z", Claims: []string{"c"}})
	if diff := cmp.Diff(Held{"a": {gpuName: 3, "nvidia.com/mig-1g.10gb": 1}, "b": {gpuName: 4}}, tally.Held()); diff != "" {
		t.Errorf("by node (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Held{"x": {gpuName: 6, "nvidia.com/mig-1g.10gb": 1}, "y": {gpuName: 1}}, tally.Namespaces()); diff != "" {
		t.Errorf("by namespace (-want +got):\n%s", diff)
	}
	tally.Remove(train)
	if diff := cmp.Diff(Held{"a": {gpuName: 1}, "b": {gpuName: 4}}, tally.Held()); diff != "" {
		t.Errorf("by node, after a pod has ended (-want +got):\n%s", diff)
	}
}

func TestTallyOfClaims(t *testing.T) {
	two := pool("a", card("gpu-0", "0:1"), card("gpu-1", "0:2"))
	cases := map[string]struct {
		devices map[string]*dra.Devices
		claims  []Claim
		want    Held
	}{
		"devices are counted on the node that publishes them, whatever the pool is called": {
			devices: map[string]*dra.Devices{"node-1": two}, claims: []Claim{claimed("x", device("a", "gpu-0"), device("a", "gpu-1"))},
			want: Held{"node-1": {draUnits: 2}},
		},
		"claims that share a device hold it once": {
			devices: map[string]*dra.Devices{"a": two}, claims: []Claim{claimed("x", device("a", "gpu-0")), claimed("y", device("a", "gpu-0"))},
			want: Held{"a": {draUnits: 1}},
		},
		"a device that is no longer published is held on the node of its pool": {
			claims: []Claim{claimed("x", device("a", "gpu-7"))}, want: Held{"a": {draUnits: 1}},
		},
		"and beside others that are": {
			devices: map[string]*dra.Devices{"a": two}, claims: []Claim{claimed("x", device("a", "gpu-7"), device("a", "gpu-0"))}, want: Held{"a": {draUnits: 2}},
		},
		"or on the node that the claim names": {
			claims: []Claim{{Namespace: "x", Node: "n", Devices: []dra.DeviceID{device("a", "gpu-7")}}}, want: Held{"n": {draUnits: 1}},
		},
		"what is published wins over the node that the claim names": {
			devices: map[string]*dra.Devices{"a": two}, claims: []Claim{{Namespace: "x", Node: "n", Devices: []dra.DeviceID{device("a", "gpu-0")}}}, want: Held{"a": {draUnits: 1}},
		},
		"parts of a card that is published whole are one unit": {
			devices: map[string]*dra.Devices{"a": pool("a", card("gpu-0", "0:1"), part("mig-0", "0:1"), part("mig-1", "0:1"))},
			claims:  []Claim{claimed("x", device("a", "mig-0")), claimed("y", device("a", "mig-1"))},
			want:    Held{"a": {draUnits: 1}},
		},
		"parts of a card that is not are units": {
			devices: map[string]*dra.Devices{"a": pool("a", part("mig-0", "0:1"), part("mig-1", "0:1"))},
			claims:  []Claim{claimed("x", device("a", "mig-0")), claimed("y", device("a", "mig-1"))},
			want:    Held{"a": {draUnits: 2}},
		},
		"a card for virtual machines is the card": {
			devices: map[string]*dra.Devices{"a": pool("a", card("gpu-0", "0:1"), dra.Device{Name: "gpu-vfio-0", Type: "vfio", PCIBusID: "0:1"})},
			claims:  []Claim{claimed("x", device("a", "gpu-vfio-0"))},
			want:    Held{"a": {draUnits: 1}},
		},
		"and takes all its parts": {
			devices: map[string]*dra.Devices{"a": pool("a", part("mig-0", "0:1"), part("mig-1", "0:1"), dra.Device{Name: "gpu-vfio-0", Type: "vfio", PCIBusID: "0:1"})},
			claims:  []Claim{claimed("x", device("a", "gpu-vfio-0"), device("a", "mig-1"))},
			want:    Held{"a": {draUnits: 2}},
		},
		"a device of the driver that is no GPU holds nothing": {
			devices: map[string]*dra.Devices{"a": pool("a", card("gpu-0", "0:1"), dra.Device{Name: "fabric", Type: "fabric"})},
			claims:  []Claim{claimed("x", device("a", "fabric"))},
		},
		"a virtual function is held besides the card that it may be of": {
			devices: map[string]*dra.Devices{"a": {Pools: []dra.Pool{{Driver: "gpu.intel.com", Name: "a", Slices: 1, WantSlices: 1,
				Devices: []dra.Device{{Name: "pf", Type: "gpu", PCIBusID: "0:1"}, {Name: "vf", Type: "vf", PCIBusID: "0:2"}}}}}},
			claims: []Claim{claimed("x", dra.DeviceID{Driver: "gpu.intel.com", Pool: "a", Device: "vf"})},
			want:   Held{"a": {"dra:gpu.intel.com": 1}},
		},
		"a device name in two pools of a node are two devices": {
			devices: map[string]*dra.Devices{"a": {Pools: []dra.Pool{
				{Driver: nvidiaDriver, Name: "p", Slices: 1, WantSlices: 1, Devices: []dra.Device{card("gpu-0", "0:1")}},
				{Driver: nvidiaDriver, Name: "q", Slices: 1, WantSlices: 1, Devices: []dra.Device{card("gpu-0", "0:2")}},
			}}},
			claims: []Claim{claimed("x", device("p", "gpu-0"), device("q", "gpu-0"))},
			want:   Held{"a": {draUnits: 2}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tally := NewTally(gpu.Options{})
			for node, devices := range tc.devices {
				tally.SetDevices(node, devices)
			}
			for _, c := range tc.claims {
				tally.AddClaim(c)
			}
			if diff := cmp.Diff(orEmpty(tc.want), tally.Held()); diff != "" {
				t.Errorf("by node (-want +got):\n%s", diff)
			}
		})
	}
}

func orEmpty(h Held) Held {
	if h == nil {
		return Held{}
	}
	return h
}

func TestNamespacesCountTheDevicesThatTheyUse(t *testing.T) {
	tally := NewTally(gpu.Options{})
	shared := claimed("y", device("a", "gpu-0"))
	tally.AddClaim(claimed("x", device("a", "gpu-0"), device("a", "gpu-1")))
	tally.AddClaim(claimed("x", device("a", "gpu-0")))
	tally.AddClaim(shared)
	if diff := cmp.Diff(Held{"x": {draUnits: 2}, "y": {draUnits: 1}}, tally.Namespaces()); diff != "" {
		t.Errorf("by namespace (-want +got):\n%s", diff)
	}
	tally.RemoveClaim(shared)
	if diff := cmp.Diff(Held{"x": {draUnits: 2}}, tally.Namespaces()); diff != "" {
		t.Errorf("by namespace, after the claim has gone (-want +got):\n%s", diff)
	}
}

// contents is all that a tally was told and still holds.
type contents struct {
	pods    []Holding
	claims  []Claim
	devices map[string]*dra.Devices
}

func (c contents) tally() *Tally {
	t := NewTally(gpu.Options{})
	for _, claim := range c.claims {
		t.AddClaim(claim)
	}
	for node, devices := range c.devices {
		t.SetDevices(node, devices)
	}
	for _, h := range c.pods {
		t.Add(h)
	}
	return t
}

// TestATallyEqualsOneMadeFromScratch holds for histories that nobody thought of.
func TestATallyEqualsOneMadeFromScratch(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		now := contents{devices: map[string]*dra.Devices{}}
		tally := NewTally(gpu.Options{})
		for step := range 60 {
			change(rng, tally, &now)
			fresh := now.tally()
			if diff := cmp.Diff(fresh.Held(), tally.Held()); diff != "" {
				t.Fatalf("seed %d, step %d: by node (-from scratch +step by step):\n%s", seed, step, diff)
			}
			if diff := cmp.Diff(fresh.Namespaces(), tally.Namespaces()); diff != "" {
				t.Fatalf("seed %d, step %d: by namespace (-from scratch +step by step):\n%s", seed, step, diff)
			}
		}
		for len(now.pods) > 0 {
			tally.Remove(take(rng, &now.pods))
		}
		for len(now.claims) > 0 {
			tally.RemoveClaim(take(rng, &now.claims))
		}
		if len(tally.Held())+len(tally.Namespaces())+len(tally.claimed)+len(tally.used)+len(tally.taken) > 0 {
			t.Fatalf("seed %d: something is left when all has gone: %v", seed, tally)
		}
	}
}

// change makes a random change to a tally and to what it should hold.
func change(rng *rand.Rand, tally *Tally, now *contents) {
	nodes, namespaces := []string{"a", "b"}, []string{"x", "y"}
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	names := []string{"gpu-0", "gpu-1", "mig-0", "mig-1", "gpu-vfio-0"}
	switch rng.IntN(6) {
	case 0:
		h := Holding{Node: pick(nodes), Namespace: pick(namespaces), Units: []ResourceUnits{{gpuName, 1 + rng.Int64N(8)}, {"amd.com/gpu", 1 + rng.Int64N(3)}}[:1+rng.IntN(2)]}
		now.pods = append(now.pods, h)
		tally.Add(h)
	case 1:
		if len(now.pods) > 0 {
			tally.Remove(take(rng, &now.pods))
		}
	case 2, 3:
		c := Claim{Namespace: pick(namespaces), Node: []string{"", "a"}[rng.IntN(2)]}
		for _, name := range names {
			if rng.IntN(3) == 0 {
				c.Devices = append(c.Devices, device(pick(nodes), name))
			}
		}
		now.claims = append(now.claims, c)
		tally.AddClaim(c)
	case 4:
		if len(now.claims) > 0 {
			tally.RemoveClaim(take(rng, &now.claims))
		}
	case 5:
		node := pick(nodes)
		now.devices[node] = randomDevices(rng, node)
		tally.SetDevices(node, now.devices[node])
	}
}

func randomDevices(rng *rand.Rand, name string) *dra.Devices {
	if rng.IntN(4) == 0 {
		return nil
	}
	var devices []dra.Device
	for _, d := range []dra.Device{
		card("gpu-0", "0:1"), card("gpu-1", "0:2"), part("mig-0", "0:1"), part("mig-1", "0:1"), {Name: "gpu-vfio-0", Type: "vfio", PCIBusID: "0:1"},
	} {
		if rng.IntN(2) == 0 {
			devices = append(devices, d)
		}
	}
	return pool(name, devices...)
}

func take[T any](rng *rand.Rand, from *[]T) T {
	i := rng.IntN(len(*from))
	taken := (*from)[i]
	*from = append((*from)[:i:i], (*from)[i+1:]...)
	return taken
}

// TestAPoolMovesBetweenNodes makes a device change its node in the two orders in which the nodes can be told.
func TestAPoolMovesBetweenNodes(t *testing.T) {
	for _, first := range []string{"a", "b"} {
		tally := NewTally(gpu.Options{})
		tally.SetDevices("a", pool("fabric", card("gpu-0", "0:1")))
		tally.AddClaim(claimed("x", device("fabric", "gpu-0")))
		after := map[string]*dra.Devices{"a": nil, "b": pool("fabric", card("gpu-0", "0:1"))}
		second := map[string]string{"a": "b", "b": "a"}[first]
		tally.SetDevices(first, after[first])
		tally.SetDevices(second, after[second])
		if diff := cmp.Diff(Held{"b": {draUnits: 1}}, tally.Held()); diff != "" {
			t.Errorf("%s first (-want +got):\n%s", first, diff)
		}
	}
}

// BenchmarkTally changes one pod, then one claim, in a fleet of 5,000 nodes.
func BenchmarkTally(b *testing.B) {
	tally := NewTally(gpu.Options{})
	for i := range 5000 {
		node := fmt.Sprintf("node-%04d", i)
		tally.SetDevices(node, pool(node, card("gpu-0", "0:1"), card("gpu-1", "0:2")))
		tally.AddClaim(claimed("x", device(node, "gpu-0")))
		tally.Add(Holding{Node: node, Namespace: "x", Units: []ResourceUnits{{gpuName, 4}}})
	}
	h, c := Holding{Node: "node-0042", Namespace: "y", Units: []ResourceUnits{{gpuName, 2}}}, claimed("y", device("node-0042", "gpu-1"))
	b.Run("pod", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tally.Add(h)
			tally.Remove(h)
		}
	})
	b.Run("claim", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tally.AddClaim(c)
			tally.RemoveClaim(c)
		}
	})
}
