package gpu

import (
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// MIG cuts one GPU into instances. What shows on the Node depends on the device plugin's strategy:
//
//   - single: the instances are offered as nvidia.com/gpu; product, count and memory of GFD describe an instance, and no
//     label carries the number of GPUs.
//   - mixed: every profile is a resource nvidia.com/mig-<profile>; GFD's labels describe the GPUs, replicas is 0 where all
//     of them have MIG enabled, and nvidia.com/gpu counts only those without MIG.
//   - A layout that does not fit the strategy makes the product MIG-INVALID and nothing is offered.
//
// The MIG manager writes mig.config.state while it works, and pauses the operands. GFD's labels stay old until it is done.

const (
	labelMIGPrefix   = "nvidia.com/mig-"
	labelMIGStrategy = "nvidia.com/mig.strategy"
	labelMIGConfig   = "nvidia.com/mig.config"
	labelMIGState    = "nvidia.com/mig.config.state"
)

// migLabels is what GFD says about MIG instances.
type migLabels struct {
	instances bool // GFD describes instances under a single strategy
	profiles  bool // GFD counts instances by profile, strategy mixed
	sliced    bool // time-slicing of instances
}

func (m migLabels) seen() bool { return m.instances || m.profiles }

// migSuffixes end the labels that GFD writes for each profile. Profiles contain dots, so the suffix is cut off the right.
var migSuffixes = []string{".sharing-strategy", ".replicas", ".count"}

func (r *reader) collectMIG() migLabels {
	var m migLabels
	if r.label(labelSlices, "GFD describes MIG instances, not GPUs") != "" {
		m.instances = true
	}
	for key := range r.facts.labels.Prefix(labelMIGPrefix) {
		for _, suffix := range migSuffixes {
			profile, ok := strings.CutSuffix(strings.TrimPrefix(key, labelMIGPrefix), suffix)
			if ok && isProfile(profile) {
				r.readProfile(&m, key, suffix)
			}
		}
	}
	return m
}

func (r *reader) readProfile(m *migLabels, key, suffix string) {
	switch suffix {
	case ".count":
		if n := r.number(key, 0, maxGPUs, "GFD counts the MIG instances of this profile"); n != nil && *n > 0 {
			m.profiles = true
		}
	case ".replicas":
		if n := r.number(key, 0, maxReplicas, "replicas of each MIG instance"); n != nil && *n > 1 {
			m.sliced = true
		}
	case ".sharing-strategy":
		m.sliced = m.sliced || r.choice(key, "how MIG instances are shared", "none", "time-slicing", "mps") == "time-slicing"
	}
}

// empty reports whether MIG is enabled on the GPUs and no instance exists.
func (r *reader) migEmpty() bool {
	g := &r.gfd
	if g.product.invalid || g.describesSlices() || g.mig.profiles || r.capacityOf(v1.VendorNVIDIA, containerKinds...) > 0 {
		return false
	}
	enabled := g.replicas != nil && *g.replicas == 0
	config := r.facts.labels.Get(labelMIGConfig) == "all-enabled" && r.operator.migState == "success"
	return enabled || config
}
