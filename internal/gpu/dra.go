package gpu

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// ResourceSlices are published by DRA drivers, outside the Node. They list every device, so they are the best evidence.
//
//   - A pool may be spread over several slices, and a new generation replaces an old one slice by slice. Only the highest
//     generation counts, and only when all of its slices are there, counted over the whole cluster.
//   - The kubelet deletes a node's slices when it starts, and a driver's 30 seconds after the driver goes: no slices for some
//     minutes is ordinary. While the kubelet is down they stay.
//   - Slices without a node (allNodes, nodeSelector) describe devices that several nodes can reach. They are no node's own
//     GPUs, and adding them to every node would multiply them.

// Devices are the DRA devices that concern one Node, by pool.
type Devices struct {
	// Pools are the pools that publish, or should publish, devices of the Node, sorted by driver and name.
	Pools []Pool
}

// Pool is what one DRA driver's pool publishes for one Node.
type Pool struct {
	// Driver is the DRA driver's name, such as gpu.nvidia.com.
	Driver string
	// Name is the pool's name, in most cases that of the Node.
	Name string
	// Generation is the highest generation seen, the only one that counts.
	Generation int64
	// Slices is how many slices of that generation exist in the cluster. WantSlices is how many there should be.
	Slices, WantSlices int64
	// Duplicate is a device name that the pool publishes twice, which makes it invalid. Empty: none.
	Duplicate string
	// Devices are the Node's own devices, sorted by name. While the pool is not Complete they are only a part.
	Devices []Device
}

// Complete reports whether the pool's devices are all there and can be counted.
func (p Pool) Complete() bool { return p.Slices == p.WantSlices && p.Duplicate == "" }

// Device is one device of a pool, with the attributes that an inventory needs, by whatever name the driver publishes them.
// Empty and nil mean not published.
type Device struct {
	// Name identifies the device in its pool.
	Name string
	// Type is the driver's word for the kind of device, such as gpu, mig, vfio or amdgpu-partition.
	Type string
	// UUID identifies the device; ParentUUID the GPU that it is a part of.
	UUID, ParentUUID string
	// PCIBusID is the device's PCI address; ParentPCI that of the GPU that it is a part of.
	PCIBusID, ParentPCI string
	// Product is the model, as the driver spells it.
	Product string
	// Profile is the MIG profile or partition style.
	Profile string
	// MemoryMiB is the device's memory.
	MemoryMiB *int64
	// Healthy is what the driver says of the device's health.
	Healthy *bool
	// Shared is true when several claims can hold the device at once.
	Shared bool
	// Taints are the taints in the slice.
	Taints []DeviceTaint
}

// DeviceTaint is a taint of a device. Effect is None, NoSchedule or NoExecute.
type DeviceTaint struct{ Key, Value, Effect string }

// poolKey identifies a pool in a cluster.
type poolKey struct{ driver, name string }

// DevicesByNode turns all ResourceSlices of a cluster into the devices of each Node, by the Node's name. Drivers that
// publish no GPUs are included: Read tells them apart. A Node that no slice names has no entry.
func DevicesByNode(all []resourcev1.ResourceSlice) map[string]*Devices {
	pools := map[poolKey][]*resourcev1.ResourceSlice{}
	for i := range all {
		s := &all[i].Spec
		k := poolKey{s.Driver, s.Pool.Name}
		pools[k] = append(pools[k], &all[i])
	}
	nodes := map[string]*Devices{}
	for _, k := range slices.SortedFunc(maps.Keys(pools), comparePools) {
		for node, p := range splitPool(k, pools[k]) {
			if nodes[node] == nil {
				nodes[node] = &Devices{}
			}
			nodes[node].Pools = append(nodes[node].Pools, *p)
		}
	}
	return nodes
}

func comparePools(a, b poolKey) int {
	return cmp.Or(cmp.Compare(a.driver, b.driver), cmp.Compare(a.name, b.name))
}

// splitPool judges one pool over all of its slices, then hands its devices to the nodes that own them. A node that only an
// older generation names gets the pool too while it is not complete, so that it is known to wait for it.
func splitPool(k poolKey, all []*resourcev1.ResourceSlice) map[string]*Pool {
	head := Pool{Driver: k.driver, Name: k.name}
	for _, s := range all {
		head.Generation = max(head.Generation, s.Spec.Pool.Generation)
	}
	current := slices.DeleteFunc(slices.Clone(all), func(s *resourcev1.ResourceSlice) bool {
		return s.Spec.Pool.Generation != head.Generation
	})
	head.Slices = int64(len(current))
	for _, s := range current {
		head.WantSlices = max(head.WantSlices, s.Spec.Pool.ResourceSliceCount)
	}
	head.Duplicate = duplicate(current)

	nodes := map[string]*Pool{}
	at := func(node string) *Pool {
		if nodes[node] == nil {
			nodes[node] = new(head)
		}
		return nodes[node]
	}
	for _, s := range current {
		handOut(s, at)
	}
	if !head.Complete() {
		for _, s := range all {
			if owner := ownerOf(s.Spec.NodeName, s.Spec.NodeSelector); owner != "" {
				at(owner)
			}
		}
	}
	for _, p := range nodes {
		slices.SortFunc(p.Devices, func(a, b Device) int { return cmp.Compare(a.Name, b.Name) })
	}
	return nodes
}

// handOut gives each device of a slice to the node that owns it.
func handOut(s *resourcev1.ResourceSlice, at func(string) *Pool) {
	owner := ownerOf(s.Spec.NodeName, s.Spec.NodeSelector)
	if owner != "" {
		at(owner) // also a slice without devices says that the node has this pool
	}
	for i := range s.Spec.Devices {
		d := &s.Spec.Devices[i]
		node := owner
		if s.Spec.PerDeviceNodeSelection != nil && *s.Spec.PerDeviceNodeSelection {
			node = ownerOf(d.NodeName, d.NodeSelector)
		}
		if node != "" {
			p := at(node)
			p.Devices = append(p.Devices, readDevice(s.Spec.Driver, d))
		}
	}
}

// ownerOf names the one node that devices belong to: by name, or by a selector that can match only that node. Empty: the
// devices are not one node's own.
func ownerOf(name *string, selector *corev1.NodeSelector) string {
	if name != nil {
		return *name
	}
	if selector == nil || len(selector.NodeSelectorTerms) != 1 {
		return ""
	}
	term := selector.NodeSelectorTerms[0]
	for _, e := range slices.Concat(term.MatchFields, term.MatchExpressions) {
		one := e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1
		if one && (e.Key == "metadata.name" || e.Key == corev1.LabelHostname) {
			return e.Values[0]
		}
	}
	return ""
}

// duplicate is a device name that appears twice in a pool, which no scheduler allocates from.
func duplicate(pool []*resourcev1.ResourceSlice) string {
	seen := map[string]bool{}
	var twice []string
	for _, s := range pool {
		for i := range s.Spec.Devices {
			name := s.Spec.Devices[i].Name
			if seen[name] {
				twice = append(twice, name)
			}
			seen[name] = true
		}
	}
	if len(twice) == 0 {
		return ""
	}
	return slices.Min(twice)
}
