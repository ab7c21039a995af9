package gpu

import (
	"cmp"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// decision is what was decided about the GPUs of one vendor.
type decision struct {
	groups  []v1.GpuGroup
	sharing v1.Sharing
}

// decideNVIDIA puts the sources in order: ResourceSlices list devices, so they win; then what virtual machines get, which
// proves that the labels of a container node are old; then labels, annotation, resources and cloud together.
func (r *reader) decideNVIDIA() decision {
	dra, published := r.decideDevices(v1.VendorNVIDIA)
	vm := r.machineGroups()
	containers := r.capacityOf(v1.VendorNVIDIA, containerKinds...) > 0
	switch {
	case published:
		return r.mergeDevices(dra, r.nvidiaSharing())
	case len(vm.groups) > 0 && !containers:
		return vm
	}
	c := r.decideContainers()
	if len(vm.groups) > 0 {
		c.groups = append(c.groups, vm.groups...)
		c.sharing = strongest(c.sharing, vm.sharing)
	}
	return c
}

// strongest picks the way of sharing that says more.
func strongest(a, b v1.Sharing) v1.Sharing {
	if a == "" || a == v1.SharingNone && b != "" {
		return b
	}
	return a
}

// decideContainers decides about GPUs that containers use, or that nothing is known of but that they exist.
func (r *reader) decideContainers() decision {
	how := r.nvidiaSharing()
	r.useSharing(how)
	c := decision{sharing: how.sharing()}
	if groups := r.hamiGroups(); len(groups) > 1 {
		c.groups = groups
		return c
	}
	g := v1.GpuGroup{Vendor: v1.VendorNVIDIA, Variant: how.variant()}
	count, source, mixed := r.nvidiaCount(how)
	if count != nil {
		g.Count = count32(*count)
	}
	if mixed {
		r.warn(v1.WarningMixedProducts)
		g.Source = source
		c.groups = []v1.GpuGroup{g}
		return c
	}
	var named v1.Source
	g.Product, g.Variant, named = r.nvidiaProduct(g.Variant)
	g.MemoryMiB, g.MemoryPerUnitMiB = r.nvidiaMemory(how)
	g.Source = cmp.Or(named, source, r.unitSource(v1.VendorNVIDIA))
	c.groups = []v1.GpuGroup{g}
	if r.mode == v1.WorkloadModeVMVGPU && c.sharing == v1.SharingNone && g.Count == nil {
		c.sharing = "" // vGPUs are meant, and none is offered: how GPUs are divided is not known
	}
	return c
}

// useSharing marks the labels that decided how GPUs are shared.
func (r *reader) useSharing(how nvidiaSharing) {
	if how.replicated || how.mig != "" {
		for _, key := range []string{labelStrategy, labelProduct, labelMIGStrategy, labelGKESharing, labelGKEPartition} {
			r.use(KindLabel, key, fieldSharing)
		}
		r.useResources(v1.VendorNVIDIA, fieldSharing, UnitShared, UnitMIG, UnitMIGShared)
	}
	if how.replicated {
		r.use(KindLabel, labelReplicas, fieldSharing)
		r.use(KindLabel, labelGKEClients, fieldSharing)
	}
}

// unitSource is the source of a row that only resources speak for.
func (s *collected) unitSource(vendor v1.Vendor) v1.Source {
	for _, u := range s.resources {
		if u.Vendor == vendor && u.capacity > 0 {
			return v1.SourceResources
		}
	}
	return ""
}

// nvidiaProduct names the model: GFD, then HAMi, then the cloud. A vGPU's size moves to the variant.
func (r *reader) nvidiaProduct(variant string) (product, newVariant string, source v1.Source) {
	product, source = r.gfd.product.base, v1.SourceLabels
	key, kind := labelProduct, KindLabel
	switch {
	case product != "":
	case r.hami.product() != "":
		product, source, key, kind = r.hami.product(), v1.SourceAnnotation, r.hami.key, KindAnnotation
	case r.cloud.speaksOf(v1.VendorNVIDIA) && r.cloud.product != "":
		product, source, key = r.cloud.product, v1.SourceCloud, r.cloud.productKey
	default:
		return "", variant, ""
	}
	r.use(kind, key, fieldProduct)
	if base, size, ok := cutVGPU(product); ok && r.gfd.guest {
		return base, "vGPU-" + size, source
	}
	if r.gfd.product.shared || r.gfd.product.profile != "" || r.gfd.product.invalid {
		r.use(KindLabel, labelProduct, fieldVariant)
	}
	return product, variant, source
}

// nvidiaCount finds the number of physical GPUs, or nil. mixed is true when more GPUs are offered than GFD counts of the
// product that it labels.
func (r *reader) nvidiaCount(how nvidiaSharing) (n *int64, source v1.Source, mixed bool) {
	if entries := len(r.hami.gpus); entries > 0 {
		r.use(KindAnnotation, r.hami.key, fieldCount)
		return new(int64(entries)), v1.SourceAnnotation, false
	}
	if r.gfd.count != nil && !r.gfd.describesSlices() && !how.guest {
		return r.labelledCount(how)
	}
	if n := r.cloudCount(how); n != nil {
		r.use(KindLabel, r.cloud.countKey, fieldCount)
		return n, v1.SourceCloud, false
	}
	if n := r.offeredCount(how); n != nil {
		r.useResources(v1.VendorNVIDIA, fieldCount, UnitWhole, UnitCards, UnitIndexed)
		return n, v1.SourceResources, false
	}
	return nil, "", false
}

// labelledCount checks gpu.count against the units that are offered.
func (r *reader) labelledCount(how nvidiaSharing) (n *int64, source v1.Source, mixed bool) {
	labelled, offered := *r.gfd.count, r.capacityOf(v1.VendorNVIDIA, UnitWhole)
	if how.whole() && offered > 0 && offered != labelled {
		r.warn(v1.WarningCountMismatch)
		r.use(KindLabel, labelCount, fieldWarnings)
		r.useResources(v1.VendorNVIDIA, fieldWarnings, UnitWhole)
	}
	if how.whole() && offered > labelled {
		r.useResources(v1.VendorNVIDIA, fieldCount, UnitWhole)
		return &offered, v1.SourceResources, true
	}
	r.use(KindLabel, labelCount, fieldCount)
	return &labelled, v1.SourceLabels, false
}

// cloudCount takes the machine type's word where units are not GPUs, or where no unit is offered.
func (s *collected) cloudCount(how nvidiaSharing) *int64 {
	if !s.cloud.speaksOf(v1.VendorNVIDIA) || s.cloud.count == nil || how.guest {
		return nil
	}
	if how.whole() && len(s.live(v1.VendorNVIDIA, UnitWhole, UnitIndexed)) > 0 {
		return nil
	}
	return s.cloud.count
}

// offeredCount reads GPUs from units, where units are GPUs or a known number of replicas of each.
func (s *collected) offeredCount(how nvidiaSharing) *int64 {
	whole, cards := s.capacityOf(v1.VendorNVIDIA, UnitWhole), s.capacityOf(v1.VendorNVIDIA, UnitCards)
	indexed := s.live(v1.VendorNVIDIA, UnitIndexed)
	switch {
	case cards > 0 && !s.hami.present:
		return &cards
	case how.whole() && whole > 0:
		return &whole
	case how.whole() && len(indexed) > 0:
		return new(int64(len(indexed)))
	case how.onlyReplicas():
		return cardsBehind(max(whole, s.capacityOf(v1.VendorNVIDIA, UnitShared)), how.clients)
	}
	return nil
}

// cardsBehind is the number of cards behind replicas. Nil: the replicas of a card are not known, or do not divide the units.
func cardsBehind(units, replicas int64) *int64 {
	if units == 0 || replicas < 2 || units%replicas != 0 {
		return nil
	}
	return new(units / replicas)
}

// nvidiaMemory finds the memory of one GPU, or of one slice where only that is known.
func (r *reader) nvidiaMemory(how nvidiaSharing) (perGPU, perUnit *int64) {
	g := &r.gfd
	switch {
	case g.memory != nil && (g.product.profile != "" || g.mig.instances || how.guest):
		r.use(KindLabel, labelMemory, fieldMemory)
		perUnit = g.memory
	case g.memory != nil && !g.describesSlices():
		r.use(KindLabel, labelMemory, fieldMemory)
		return g.memory, nil
	}
	if m := r.hami.memory(); m != nil {
		r.use(KindAnnotation, r.hami.key, fieldMemory)
		return m, nil
	}
	if r.cloud.speaksOf(v1.VendorNVIDIA) && r.cloud.memory != nil && !how.guest {
		r.use(KindLabel, r.cloud.memoryKey, fieldMemory)
		return r.cloud.memory, nil
	}
	return nil, perUnit
}
