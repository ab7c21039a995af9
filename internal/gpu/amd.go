package gpu

import (
	"maps"
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// AMD's node labeller writes labels straight on the Node when it starts. Nothing takes them back when it dies.
//
//   - There is no count label: the count is the value of a key that has the product in it,
//     beta.amd.com/gpu.product-name.<product>=8. With several products the plain key is absent and only such keys are left.
//     They can survive a change of cards.
//   - vram is rounded GiB with the suffix G. Depending on the release it is that of a card or of a partition.
//   - A partitioned card (compute-memory-partition, or resources such as amd.com/cpx_nps4) is several devices, and both
//     amd.com/gpu and the counting keys count those.
//   - gpu.mode says whether cards or their virtual functions go to virtual machines.

const (
	labelAMDPrefix    = "amd.com/gpu."
	labelAMDBeta      = "beta.amd.com/gpu."
	labelAMDProduct   = labelAMDPrefix + "product-name"
	labelAMDVRAM      = labelAMDPrefix + "vram"
	labelAMDDevice    = labelAMDPrefix + "device-id"
	labelAMDPartition = labelAMDPrefix + "compute-memory-partition"
	labelAMDMode      = labelAMDPrefix + "mode"
)

// amdKey is a label that has one value for all GPUs, under its current and its older name.
type amdKey struct{ current, older string }

var (
	amdKeyProduct = amdKey{labelAMDProduct, labelAMDBeta + "product-name"}
	amdKeyDevice  = amdKey{labelAMDDevice, labelAMDBeta + "device-id"}
	amdKeysOther  = []amdKey{
		{labelAMDPrefix + "family", labelAMDBeta + "family"},
		{labelAMDPrefix + "cu-count", labelAMDBeta + "cu-count"},
		{labelAMDPrefix + "simd-count", labelAMDBeta + "simd-count"},
	}
)

// Starts of the keys that count devices.
var (
	amdProductCounters = []string{labelAMDBeta + "product-name.", labelAMDPrefix + "product-name."}
	amdDeviceCounters  = []string{labelAMDBeta + "device-id.", labelAMDPrefix + "device-id."}
)

// amdLabels is what the labeller says.
type amdLabels struct {
	product   string
	products  map[string]int64 // product -> devices, from keys that count
	devices   int64            // devices, from keys that count device IDs
	deviceID  string
	vram      *int64 // MiB of a card or of a partition
	partition string // style, empty when cards are whole
	mode      string
}

func (r *reader) collectAMD() {
	a := &r.amd
	a.product = r.amdPlain(amdKeyProduct, "the labeller names the product")
	a.deviceID = r.amdPlain(amdKeyDevice, "PCI device ID")
	a.vram = r.amdVRAM()
	for _, key := range amdKeysOther {
		r.amdPlain(key, "the labeller describes a GPU")
	}
	a.mode = r.choice(labelAMDMode, "what the GPUs are prepared for", "container", "vf-passthrough", "pf-passthrough")
	if a.mode != "" {
		r.mark(v1.VendorAMD, intended)
	}
	a.products = r.amdCounters(amdProductCounters, "devices with this product-name")
	if a.product != "" && len(a.products) > 0 {
		// One product: counters of other names are left over from other cards.
		n, ok := a.products[a.product]
		clear(a.products)
		if ok {
			a.products[a.product] = n
		}
	}
	for _, n := range r.amdCounters(amdDeviceCounters, "devices with this device-id") {
		a.devices += n
	}
	style := r.label(labelAMDPartition, "how cards are partitioned")
	if style != "" && !isPartitionStyle(style) {
		r.invalid(labelAMDPartition, style)
	} else if !strings.HasPrefix(style, "spx_") {
		a.partition = style
	}
}

func (r *reader) amdPlain(key amdKey, says string) string {
	v := r.label(key.current, says)
	if v == "" {
		v = r.label(key.older, says)
	}
	if v != "" {
		r.mark(v1.VendorAMD, discovered)
	}
	return v
}

// amdCounters reads keys that end in a product or a device ID, and have the number of devices as their value. What appears
// under both names of the key is counted once.
func (r *reader) amdCounters(prefixes []string, says string) map[string]int64 {
	counts := map[string]int64{}
	for _, prefix := range prefixes {
		for key := range r.facts.labels.Prefix(prefix) {
			if n := r.number(key, 0, maxGPUs, says); n != nil && *n > 0 {
				counts[strings.TrimPrefix(key, prefix)] = *n
				r.mark(v1.VendorAMD, discovered)
			}
		}
	}
	return counts
}

// amdVRAM reads vram, GiB with the suffix G.
func (r *reader) amdVRAM() *int64 {
	for _, key := range []string{labelAMDVRAM, labelAMDBeta + "vram"} {
		v, ok := r.facts.labels.Lookup(key)
		if !ok {
			continue
		}
		gib, hasUnit := strings.CutSuffix(v, "G")
		n, ok := parseCount(gib, maxMiB/1024)
		if !ok || !hasUnit || n == 0 {
			r.invalid(key, v)
			continue
		}
		r.see(KindLabel, key, v, "memory of one device, rounded to GiB")
		r.mark(v1.VendorAMD, discovered)
		return new(n * 1024)
	}
	return nil
}

// amdFullVRAM is the memory of the cards that can be partitioned, in GiB, by PCI device ID and by a part of the product.
// With it a vram label of a partition can be told from one of a card.
var amdFullVRAM = map[string]int64{
	"74a0": 128, "MI300A": 128,
	"74a1": 192, "74a9": 192, "74b5": 192, "74bd": 192, "MI300X": 192,
	"74a2": 192, "74a8": 192, "74b6": 192, "74bc": 192, "MI308X": 192,
	"74a5": 256, "74b9": 256, "MI325X": 256,
	"75a0": 288, "75b0": 288, "MI350X": 288,
	"75a3": 288, "75b3": 288, "MI355X": 288,
}

// fullVRAM is the memory of one card in MiB, 0 when the model is not known.
func (a *amdLabels) fullVRAM() int64 {
	if gib, ok := amdFullVRAM[a.deviceID]; ok {
		return gib * 1024
	}
	for _, model := range slices.Sorted(maps.Keys(amdFullVRAM)) {
		if strings.HasPrefix(model, "MI") && strings.Contains(a.product, model) {
			return amdFullVRAM[model] * 1024
		}
	}
	return 0
}
