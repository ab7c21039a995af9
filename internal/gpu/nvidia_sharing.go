package gpu

import (
	"cmp"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Sharing shows in several places that disagree when one of them is old: resource names (.shared, mig-*), GFD's product
// suffix, sharing-strategy and replicas, and the labels of clouds whose plugins rename nothing. What the kubelet advertises
// now wins over labels; a resource with 0 units says nothing.

// containerKinds are the units that containers can ask for.
var containerKinds = []UnitKind{UnitWhole, UnitShared, UnitMIG, UnitMIGShared, UnitIndexed, UnitAlias, UnitSlot, UnitCards, UnitQuantity}

// nvidiaSharing is how NVIDIA GPUs are divided among containers.
type nvidiaSharing struct {
	mig        string     // empty: no MIG; mixed, INVALID or a profile
	replicated bool       // GPUs or instances are time-sliced or shared through MPS
	partly     bool       // some GPUs are whole, others shared
	clients    int64      // replicas of each GPU, 0 when not known
	how        v1.Sharing // of replicas: time-slicing or mps
	other      v1.Sharing // a plugin with its own way; empty: none
	guest      bool       // a vGPU inside a virtual machine
	instances  bool       // MIG instances of a profile that nothing names
	unclear    bool       // units may be MIG instances, and nothing tells
}

func (r *reader) nvidiaSharing() nvidiaSharing {
	s := nvidiaSharing{how: r.replicaStrategy(), guest: r.gfd.guest, other: r.otherSharing()}
	s.mig = r.migVariant()
	s.instances = s.mig == "" && r.gfd.mig.instances
	s.unclear = s.mig == "" && r.gfd.describesSlices()
	r.replicas(&s)
	return s
}

// migVariant names the MIG layout that is offered.
func (r *reader) migVariant() string {
	g := &r.gfd
	whole := r.capacityOf(v1.VendorNVIDIA, UnitWhole, UnitShared)
	switch {
	case len(r.live(v1.VendorNVIDIA, UnitMIG, UnitMIGShared)) > 0:
		r.useResources(v1.VendorNVIDIA, fieldVariant, UnitMIG, UnitMIGShared)
		return "mixed"
	case g.product.invalid:
		return "INVALID"
	case g.product.profile != "":
		return g.product.profile
	case r.cloud.partition != "":
		return r.cloud.partition
	// Labels of profiles count only where no whole GPU is offered: otherwise they are left over from an earlier layout.
	case g.mig.profiles && whole == 0, r.migEmpty():
		return "mixed"
	}
	return ""
}

// replicaStrategy is how replicas are made, where there are any.
func (s *collected) replicaStrategy() v1.Sharing {
	switch {
	case s.gfd.strategy == "mps", s.gfd.strategy == "" && s.gfd.mps, s.cloud.sharing == v1.SharingMPS:
		return v1.SharingMPS
	}
	return v1.SharingTimeSlicing
}

// otherSharing names a way of sharing that the NVIDIA device plugin does not know.
func (r *reader) otherSharing() v1.Sharing {
	if r.hami.present {
		return v1.SharingOther
	}
	for _, u := range r.live(v1.VendorNVIDIA, UnitSlot, UnitCards, UnitQuantity) {
		r.use(KindResource, u.name, fieldSharing)
		return cmp.Or(u.sharing, v1.SharingOther)
	}
	return ""
}

// replicas finds out whether GPUs are shared through replicas, and how many there are of each.
func (r *reader) replicas(s *nvidiaSharing) {
	whole, shared := r.capacityOf(v1.VendorNVIDIA, UnitWhole), r.capacityOf(v1.VendorNVIDIA, UnitShared)
	instances := r.capacityOf(v1.VendorNVIDIA, UnitMIGShared)
	s.replicated = r.gfd.declaresReplicas() || shared+instances > 0 || r.cloud.sharing != "" || s.mig != "" && r.gfd.mig.sliced
	if r.gfd.replicas != nil {
		s.clients = r.gfd.replicated()
	}
	if r.cloud.clients != nil && s.clients <= 1 {
		s.clients = *r.cloud.clients
	}
	s.partly = shared > 0 && whole > 0 && !r.allBehindShared()
}

// declaresReplicas reports whether GFD says that GPUs are shared through replicas.
func (g *gfdLabels) declaresReplicas() bool {
	return g.product.shared || (g.strategy == "time-slicing" || g.strategy == "mps") && g.replicated() > 1
}

// allBehindShared reports whether the shared units account for all GPUs by themselves, so that whole units beside them are
// left over or count the same GPUs.
func (s *collected) allBehindShared() bool {
	g := &s.gfd
	shared := s.capacityOf(v1.VendorNVIDIA, UnitShared)
	return g.count != nil && g.replicas != nil && shared > 0 && shared == *g.count**g.replicas
}

// variant is the suffix of the product.
func (s nvidiaSharing) variant() string {
	switch {
	case s.mig == "mixed" || s.mig == "INVALID":
		return "MIG-" + s.mig
	case s.mig != "" && s.replicated:
		return "MIG-" + s.mig + "-SHARED"
	case s.mig != "":
		return "MIG-" + s.mig
	case s.replicated && !s.partly && s.other == "":
		return "SHARED"
	}
	return ""
}

// sharing is the same as the API names it.
func (s nvidiaSharing) sharing() v1.Sharing {
	switch {
	case s.mig != "" && s.replicated && s.mig != "INVALID":
		return v1.SharingMIGTimeSlicing
	case s.mig != "", s.instances:
		return v1.SharingMIG
	case s.guest:
		return v1.SharingVGPU
	case s.other != "":
		return s.other
	case s.replicated:
		return s.how
	}
	return v1.SharingNone
}

// onlyReplicas reports whether every unit is one of the replicas of a GPU.
func (s nvidiaSharing) onlyReplicas() bool {
	return s.replicated && s.mig == "" && !s.unclear && !s.partly && !s.guest && s.other == ""
}

// whole reports whether one unit of nvidia.com/gpu is one GPU.
func (s nvidiaSharing) whole() bool {
	return s.mig == "" && !s.unclear && !s.replicated && !s.guest && s.other == ""
}
