package gpu

import (
	"encoding/json"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// HAMi's device plugin advertises nvidia.com/gpu too, with several slots for each GPU, and lists the GPUs in an annotation:
// JSON, or in older releases "uuid,slots,MiB,cores,type,numa,health[,index,mode]:" repeated.
//
//   - One entry is one physical GPU. A missing health means false.
//   - The memory is what the scheduler hands out, which a scaling factor may raise above what the card has. Cores above 100
//     give that away.
//   - The annotation stays when the plugin goes. Whether GPUs can be used is judged by allocatable, never by it.

const (
	annotationHAMi          = "hami.io/node-nvidia-register"
	annotationHandshake     = "hami.io/node-handshake"
	annotationHAMiPrefix    = "hami.io/node-"
	annotationHAMiRegister  = "hami.io/node-register-"
	annotationHAMiRegSuffix = "-register"
)

// hamiAnnotations is what HAMi says about NVIDIA GPUs.
type hamiAnnotations struct {
	present bool
	key     string
	gpus    []hamiGPU
	others  map[v1.Vendor]int64 // entries in the annotations of other vendors
}

// hamiGPU is one entry of the annotation.
type hamiGPU struct {
	Type   string `json:"type"`
	Memory int64  `json:"devmem"`
	Cores  int64  `json:"devcore"`
	Health bool   `json:"health"`
}

// isHAMiAnnotation reports whether an annotation lists the devices of a vendor.
func isHAMiAnnotation(key string) bool {
	rest, ok := strings.CutPrefix(key, annotationHAMiPrefix)
	return ok && (strings.HasSuffix(rest, annotationHAMiRegSuffix) || strings.HasPrefix(key, annotationHAMiRegister))
}

func (r *reader) collectHAMi() {
	h := &r.hami
	for _, a := range r.facts.annotations {
		switch key, value := a.key, a.value; {
		case key == annotationHandshake:
			h.present = true
			r.see(KindAnnotation, key, value, "HAMi's plugin and scheduler greet each other")
		case key == annotationHAMi:
			h.present = true
			h.gpus = r.seeHAMi(key, value)
			h.key = key
			if len(h.gpus) > 0 {
				r.mark(v1.VendorNVIDIA, discovered)
			}
		case isHAMiAnnotation(key):
			r.countOthers(hamiVendor(key), int64(len(r.seeHAMi(key, value))))
		}
	}
}

func (r *reader) countOthers(vendor v1.Vendor, n int64) {
	if n == 0 {
		return
	}
	if r.hami.others == nil {
		r.hami.others = map[v1.Vendor]int64{}
	}
	r.hami.others[vendor] += n
	r.mark(vendor, discovered)
}

func hamiVendor(key string) v1.Vendor {
	if strings.Contains(key, "amd") {
		return v1.VendorAMD
	}
	return v1.VendorUnknown
}

func (r *reader) seeHAMi(key, value string) []hamiGPU {
	gpus := parseHAMi(value)
	says := "HAMi lists " + plural(int64(len(gpus)), "device")
	if len(gpus) == 0 {
		says = "holds no list of devices that can be read"
		r.warn(v1.WarningInvalidLabel)
	}
	r.see(KindAnnotation, key, value, says)
	return gpus
}

// parseHAMi reads both forms of the list. It is nil for anything else, and for more entries than a node can have GPUs.
func parseHAMi(value string) []hamiGPU {
	var gpus []hamiGPU
	value = strings.TrimSpace(value)
	if strings.HasPrefix(value, "[") {
		if json.Unmarshal([]byte(value), &gpus) != nil {
			return nil
		}
	} else {
		for entry := range strings.SplitSeq(value, ":") {
			if g, ok := parseHAMiEntry(entry); ok {
				gpus = append(gpus, g)
			}
		}
	}
	if len(gpus) > maxGPUs {
		return nil
	}
	return gpus
}

func parseHAMiEntry(entry string) (hamiGPU, bool) {
	f := strings.Split(entry, ",")
	if len(f) < 5 || f[0] == "" {
		return hamiGPU{}, false
	}
	g := hamiGPU{Type: f[4]}
	g.Memory, _ = parseCount(f[2], maxMiB)
	g.Cores, _ = parseCount(f[3], maxUnits)
	g.Health = len(f) > 6 && f[6] == "true"
	return g, true
}

// model is the product without the vendor that HAMi puts before it.
func (g hamiGPU) model() string { return strings.TrimPrefix(g.Type, "NVIDIA-") }

// memoryMiB is the memory of the card, nil when it is not given or visibly scaled.
func (g hamiGPU) memoryMiB() *int64 {
	if g.Memory < 1 || g.Memory > maxMiB || g.Cores > 100 {
		return nil
	}
	return new(g.Memory)
}

// product is the model of all entries, empty when they differ.
func (h *hamiAnnotations) product() string {
	if len(h.gpus) == 0 {
		return ""
	}
	for _, g := range h.gpus {
		if g.model() != h.gpus[0].model() {
			return ""
		}
	}
	return h.gpus[0].model()
}

// memory is the memory of each entry, nil when they differ or are scaled.
func (h *hamiAnnotations) memory() *int64 {
	if len(h.gpus) == 0 {
		return nil
	}
	m := h.gpus[0].memoryMiB()
	for _, g := range h.gpus {
		if n := g.memoryMiB(); m == nil || n == nil || *n != *m {
			return nil
		}
	}
	return m
}

// hamiGroups has a row for each model in the annotation.
func (r *reader) hamiGroups() []v1.GpuGroup {
	var groups []v1.GpuGroup
	for _, g := range r.hami.gpus {
		groups = addGroup(groups, v1.GpuGroup{
			Vendor: v1.VendorNVIDIA, Product: g.model(), Count: new(int32(1)), MemoryMiB: g.memoryMiB(),
			Source: v1.SourceAnnotation,
		})
	}
	if len(groups) > 1 {
		r.use(KindAnnotation, r.hami.key, fieldProduct)
		r.use(KindAnnotation, r.hami.key, fieldCount)
	}
	return groups
}

// unhealthy is the number of entries that HAMi reports as sick.
func (h *hamiAnnotations) unhealthy() int64 {
	var n int64
	for _, g := range h.gpus {
		if !g.Health {
			n++
		}
	}
	return n
}
