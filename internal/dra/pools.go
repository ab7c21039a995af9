package dra

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// DRA drivers publish ResourceSlices beside the Node. The slices list every device.
//
//   - A pool may be spread over several slices, and a new generation replaces an old one slice by slice. Only the highest
//     generation counts, and only when all of its slices are there, counted over the whole cluster.
//   - The kubelet deletes a node's slices when it starts, and a driver's slices 30 seconds after the driver goes. So it is
//     normal that there are none for some minutes. While the kubelet is down they stay.
//   - Slices without a node (allNodes, nodeSelector) describe devices that several nodes can reach. They belong to no node,
//     and adding them to every node would multiply them.

// poolKey identifies a pool in a cluster.
type poolKey struct{ driver, name string }

// DevicesByNode returns the devices that all ResourceSlices of a cluster publish, by the name of their Node. Devices that are
// no GPUs are among them. A Node that no slice names has no entry.
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

// splitPool reads one pool from all of its slices and returns each node's share of it. While the pool is not complete, a node
// that only an older generation names has a share too, without devices: it may have devices in a slice that is still missing.
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
		at(owner) // a slice without devices also says that the node has this pool
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

// ownerOf returns the one node that devices belong to, by its name or by a selector that can match only that node. Empty: the
// devices do not belong to one node.
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

// duplicate returns a device name that appears twice in a pool. The scheduler allocates nothing from such a pool.
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
