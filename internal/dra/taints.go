package dra

import (
	"cmp"
	"slices"
)

// TaintRule is what a DeviceTaintRule says. Its taint is in no slice: drivers never see it.
type TaintRule struct {
	// Name is the rule's name.
	Name string
	// Driver, Pool and Device select the devices. Nil: any.
	Driver, Pool, Device *string
	// Taint is what the selected devices get.
	Taint DeviceTaint
}

// selects reports whether the rule is about a device.
func (r *TaintRule) selects(p *Pool, d *Device) bool {
	matches := func(want *string, is string) bool { return want == nil || *want == is }
	return matches(r.Driver, p.Driver) && matches(r.Pool, p.Name) && matches(r.Device, d.Name)
}

// AddTaints adds the taints of rules to the devices of each Node, after those of the slices and in the order of the rules'
// names.
func AddTaints(devices map[string]*Devices, rules []*TaintRule) {
	sorted := slices.SortedFunc(slices.Values(rules), func(a, b *TaintRule) int { return cmp.Compare(a.Name, b.Name) })
	if len(sorted) == 0 {
		return
	}
	for _, node := range devices {
		for i := range node.Pools {
			p := &node.Pools[i]
			for j := range p.Devices {
				d := &p.Devices[j]
				for _, r := range sorted {
					if r.selects(p, d) {
						d.Taints = append(d.Taints, r.Taint)
					}
				}
			}
		}
	}
}
