package gpu

import (
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// GPU feature discovery (GFD) labels are written through NFD from what the driver reports.
//
//   - They go stale, not away, when GFD stops; they vanish when NFD's objects or GFD's file go. NotReady does not remove
//     them. On vm-passthrough and vm-vgpu nodes GFD does not run.
//   - gpu.count counts physical GPUs of the labelled product, but MIG instances when a single MIG profile is labelled, and
//     is a placeholder 0 with MIG-INVALID. gpu.memory is MiB per device in the same sense; a release of 2022 wrote bytes.
//   - With several products one of them is labelled, at random, and it changes from minute to minute.
//   - gfd.timestamp, vgpu.present=false and mps.capable=false are written without any GPU: they are no evidence.

const (
	labelProduct    = "nvidia.com/gpu.product"
	labelCount      = "nvidia.com/gpu.count"
	labelMemory     = "nvidia.com/gpu.memory"
	labelReplicas   = "nvidia.com/gpu.replicas"
	labelStrategy   = "nvidia.com/gpu.sharing-strategy"
	labelSlices     = "nvidia.com/gpu.slices.gi"
	labelMPSCapable = "nvidia.com/mps.capable"
	labelVGPU       = "nvidia.com/vgpu.present"
	labelVGPUHost   = "nvidia.com/vgpu.host-driver-version"
)

// gfdLabels is what GFD says. Nil and empty mean that it does not say, or not in a way that can be read.
type gfdLabels struct {
	product     gfdProduct
	count       *int64
	memory      *int64
	replicas    *int64
	strategy    string
	migStrategy string
	mig         migLabels
	mps         bool
	guest       bool // a virtual machine with a vGPU: what looks like a GPU is a part of one
}

// gfdProduct is gpu.product in its parts: <base>[-MIG-<profile>][-SHARED].
type gfdProduct struct {
	raw, base, profile string
	shared, invalid    bool
}

// parseProduct strips the suffixes that GFD adds, from the right.
func parseProduct(raw string) gfdProduct {
	p := gfdProduct{raw: raw}
	p.base, p.shared = strings.CutSuffix(raw, "-SHARED")
	if i := strings.LastIndex(p.base, "-MIG-"); i > 0 {
		switch profile := p.base[i+len("-MIG-"):]; {
		case profile == "INVALID":
			p.base, p.invalid = p.base[:i], true
		case isProfile(profile):
			p.base, p.profile = p.base[:i], profile
		}
	}
	return p
}

func (r *reader) collectGFD() {
	g := &r.gfd
	if raw := r.label(labelProduct, "GFD names the product"); raw != "" {
		g.product = parseProduct(raw)
		r.mark(v1.VendorNVIDIA, discovered)
	}
	g.migStrategy = r.choice(labelMIGStrategy, "how the device plugin offers MIG instances", "none", "single", "mixed")
	g.strategy = r.choice(labelStrategy, "how the device plugin shares GPUs", "none", "time-slicing", "mps")
	g.count = r.gfdCount()
	g.memory = r.gfdMemory()
	g.replicas = r.number(labelReplicas, 0, maxReplicas, "replicas of each GPU; 0 describes GPUs with MIG enabled")
	g.mps = r.label(labelMPSCapable, "whether MPS is configured") == "true"
	present := r.label(labelVGPU, "whether this is a virtual machine with a vGPU") == "true"
	g.guest = r.label(labelVGPUHost, "driver version of the vGPU host") != "" || present
	g.mig = r.collectMIG()
	if g.guest || g.mig.seen() {
		r.mark(v1.VendorNVIDIA, discovered)
	}
	for _, key := range []string{"nvidia.com/gpu.family", "nvidia.com/gpu.compute.major"} {
		if r.label(key, "GFD describes a GPU") != "" {
			r.mark(v1.VendorNVIDIA, discovered)
		}
	}
	if r.label("nvidia.com/mig.capable", "whether the GPU can do MIG") == "true" {
		r.mark(v1.VendorNVIDIA, discovered)
	}
}

// gfdCount reads gpu.count. A 0 is what GFD writes when it cannot describe the GPUs, so it is never taken for a number.
func (r *reader) gfdCount() *int64 {
	n := r.number(labelCount, 0, maxGPUs, "GFD counts the GPUs of the labelled product")
	if n == nil {
		return nil
	}
	if *n == 0 {
		if !r.gfd.product.invalid {
			r.warn(v1.WarningLabelConflict)
			r.use(KindLabel, labelCount, fieldWarnings)
		}
		return nil
	}
	r.mark(v1.VendorNVIDIA, discovered)
	return n
}

// gfdMemory reads gpu.memory, MiB of one device. A number that cannot be MiB is bytes, as an old release wrote it.
func (r *reader) gfdMemory() *int64 {
	n := r.number(labelMemory, 0, maxMiB*bytesPerMiB, "GFD gives the memory of one device in MiB")
	switch {
	case n == nil, *n == 0:
		return nil
	case *n > maxMiB:
		r.warn(v1.WarningMemoryLabelImplausible)
		r.use(KindLabel, labelMemory, fieldWarnings)
		n = new(*n / bytesPerMiB)
	}
	r.mark(v1.VendorNVIDIA, discovered)
	return n
}

// describesSlices reports whether count and memory are those of MIG instances, not of GPUs. It is also true when a single
// MIG strategy is declared and the product, which would tell, is missing.
func (g *gfdLabels) describesSlices() bool {
	return g.product.profile != "" || g.product.invalid || g.mig.instances || g.product.raw == "" && g.migStrategy == "single"
}

// replicated is the number of replicas of each GPU, 1 when GPUs are not shared.
func (g *gfdLabels) replicated() int64 {
	if g.replicas == nil || *g.replicas < 1 {
		return 1
	}
	return *g.replicas
}
