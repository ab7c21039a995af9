package gpu

import (
	"slices"
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// UnitKind is what one unit of a resource is.
type UnitKind string

// Kinds of units.
const (
	// UnitWhole is a GPU, or a replica of one where GPUs are shared under their ordinary name.
	UnitWhole UnitKind = "whole"
	// UnitShared is a replica of a GPU under a name of its own.
	UnitShared UnitKind = "shared"
	// UnitMIG is a MIG instance; UnitMIGShared is a replica of one.
	UnitMIG       UnitKind = "mig"
	UnitMIGShared UnitKind = "mig-shared"
	// UnitPassthrough is a PCI function that virtual machines get whole.
	UnitPassthrough UnitKind = "passthrough"
	// UnitFree is a name under nvidia.com that says nothing by itself. On a passthrough node it is a GPU.
	UnitFree UnitKind = "free"
	// UnitVGPU is a virtual GPU of a certain type.
	UnitVGPU UnitKind = "vgpu"
	// UnitPartition is an AMD partition of a certain style.
	UnitPartition UnitKind = "partition"
	// UnitIndexed is one certain GPU; UnitAlias is all of them under one name.
	UnitIndexed UnitKind = "indexed"
	UnitAlias   UnitKind = "alias"
	// UnitSlot is a share of a GPU of no certain size.
	UnitSlot UnitKind = "slot"
	// UnitCards counts cards where pods ask for parts of them.
	UnitCards UnitKind = "cards"
	// UnitQuantity is memory or cores: not a device. It counts only where nothing else does.
	UnitQuantity UnitKind = "quantity"
)

// ResourceClass is what an extended resource name means.
type ResourceClass struct {
	// Vendor is the maker of the devices.
	Vendor v1.Vendor
	// Kind is what one unit is.
	Kind UnitKind
	// Model is the model that the name contains. Empty: none.
	Model string
	// Profile is the MIG profile, vGPU type or partition style that the name contains. Empty: none.
	Profile string
	// sharing is how a plugin that is known for one way of sharing divides GPUs.
	sharing v1.Sharing
}

// resourceNames are the names that need no grammar. Vendors without a constant of their own are v1.VendorUnknown.
// A vendor with a file of its own adds its names there, see addVendor.
var resourceNames = map[string]ResourceClass{
	"amd.com/gpu":        {Vendor: v1.VendorAMD, Kind: UnitWhole},
	"gpu.intel.com/i915": {Vendor: v1.VendorIntel, Kind: UnitWhole},
	"gpu.intel.com/xe":   {Vendor: v1.VendorIntel, Kind: UnitWhole},

	// Plugins that divide NVIDIA GPUs in their own ways.
	"k8s.amazonaws.com/vgpu":            {Vendor: v1.VendorNVIDIA, Kind: UnitSlot, sharing: v1.SharingMPS},
	"volcano.sh/vgpu-number":            {Vendor: v1.VendorNVIDIA, Kind: UnitSlot, sharing: v1.SharingOther},
	"volcano.sh/gpu-number":             {Vendor: v1.VendorNVIDIA, Kind: UnitCards, sharing: v1.SharingOther},
	"volcano.sh/vgpu-memory":            {Vendor: v1.VendorNVIDIA, Kind: UnitQuantity, sharing: v1.SharingOther},
	"volcano.sh/vgpu-cores":             {Vendor: v1.VendorNVIDIA, Kind: UnitQuantity, sharing: v1.SharingOther},
	"volcano.sh/gpu-memory":             {Vendor: v1.VendorNVIDIA, Kind: UnitQuantity, sharing: v1.SharingOther},
	"aliyun.com/gpu-count":              {Vendor: v1.VendorNVIDIA, Kind: UnitCards, sharing: v1.SharingOther},
	"aliyun.com/gpu-mem":                {Vendor: v1.VendorNVIDIA, Kind: UnitQuantity, sharing: v1.SharingOther},
	"aliyun.com/gpu-core.percentage":    {Vendor: v1.VendorNVIDIA, Kind: UnitQuantity, sharing: v1.SharingOther},
	"tencent.com/vcuda-core":            {Vendor: v1.VendorNVIDIA, Kind: UnitQuantity, sharing: v1.SharingOther},
	"tencent.com/vcuda-memory":          {Vendor: v1.VendorNVIDIA, Kind: UnitQuantity, sharing: v1.SharingOther},
	"tke.cloud.tencent.com/qgpu-core":   {Vendor: v1.VendorNVIDIA, Kind: UnitQuantity, sharing: v1.SharingOther},
	"tke.cloud.tencent.com/qgpu-memory": {Vendor: v1.VendorNVIDIA, Kind: UnitQuantity, sharing: v1.SharingOther},

	// Other makers. The second name of a maker is the shared form of the first.
	"mthreads.com/gpu":     {Vendor: v1.VendorUnknown, Kind: UnitWhole},
	"mthreads.com/vgpu":    {Vendor: v1.VendorUnknown, Kind: UnitSlot},
	"cambricon.com/mlu":    {Vendor: v1.VendorUnknown, Kind: UnitWhole},
	"cambricon.com/vmlu":   {Vendor: v1.VendorUnknown, Kind: UnitSlot},
	"hygon.com/dcu":        {Vendor: v1.VendorUnknown, Kind: UnitWhole},
	"hygon.com/dcunum":     {Vendor: v1.VendorUnknown, Kind: UnitSlot},
	"iluvatar.ai/gpu":      {Vendor: v1.VendorUnknown, Kind: UnitWhole},
	"iluvatar.com/gpu":     {Vendor: v1.VendorUnknown, Kind: UnitWhole},
	"metax-tech.com/gpu":   {Vendor: v1.VendorUnknown, Kind: UnitWhole},
	"metax-tech.com/sgpu":  {Vendor: v1.VendorUnknown, Kind: UnitSlot},
	"enflame.com/gcu":      {Vendor: v1.VendorUnknown, Kind: UnitWhole},
	"enflame.com/drs-gcu":  {Vendor: v1.VendorUnknown, Kind: UnitSlot},
	"kunlunxin.com/xpu":    {Vendor: v1.VendorUnknown, Kind: UnitWhole},
	"kunlunxin.com/vxpu":   {Vendor: v1.VendorUnknown, Kind: UnitSlot},
	"birentech.com/gpu":    {Vendor: v1.VendorUnknown, Kind: UnitWhole},
	"vastaitech.com/va":    {Vendor: v1.VendorUnknown, Kind: UnitWhole},
	"alibabacloud.com/ppu": {Vendor: v1.VendorUnknown, Kind: UnitWhole},
}

// Classify says what an extended resource name means. It returns false for a name that is no GPU. A UnitFree name is a
// GPU only on a node that passes GPUs through to virtual machines.
func Classify(name string, opts Options) (ResourceClass, bool) {
	if wanted, known := opts.extra(name); known {
		return ResourceClass{Vendor: vendorOfDomain(name), Kind: UnitWhole}, wanted
	}
	if c, ok := resourceNames[name]; ok {
		return c, true
	}
	if rest, ok := strings.CutPrefix(name, nvidiaDomain); ok {
		return classifyNVIDIA(rest)
	}
	if style, ok := strings.CutPrefix(name, "amd.com/"); ok && isPartitionStyle(style) {
		return ResourceClass{Vendor: v1.VendorAMD, Kind: UnitPartition, Profile: style}, true
	}
	return classifyByModel(name)
}

// extra reports whether the options speak of a name, and whether they want it. Exclusions win.
func (o Options) extra(name string) (wanted, known bool) {
	for _, pattern := range o.ExtraResources {
		pattern, excluded := strings.CutPrefix(pattern, "-")
		if !matches(pattern, name) {
			continue
		}
		if excluded {
			return false, true
		}
		wanted, known = true, true
	}
	return wanted, known
}

func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return prefix != "" && strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

// vendorOfDomain names the maker of a resource whose name is otherwise not known.
func vendorOfDomain(name string) v1.Vendor {
	switch domain, _, _ := strings.Cut(name, "/"); domain {
	case "nvidia.com":
		return v1.VendorNVIDIA
	case "amd.com":
		return v1.VendorAMD
	case "gpu.intel.com", "intel.com":
		return v1.VendorIntel
	case "habana.ai":
		return v1.VendorHabana
	}
	return v1.VendorUnknown
}

// classifyByModel reads the names of makers that put the model into the resource name.
func classifyByModel(name string) (ResourceClass, bool) {
	c := ResourceClass{Vendor: v1.VendorUnknown, Kind: UnitWhole}
	if model, ok := strings.CutPrefix(name, "huawei.com/Ascend"); ok {
		if strings.HasSuffix(model, "-memory") || strings.HasSuffix(model, "-core") {
			return c, false
		}
		base, _, virtual := strings.Cut(model, "-") // Ascend310P-4c is a part of an Ascend310P
		c.Model, c.Kind = "Ascend"+base, pick(virtual, UnitSlot, UnitWhole)
		return c, true
	}
	if rest, ok := strings.CutPrefix(name, "iluvatar.ai/"); ok {
		model, virtual := strings.CutSuffix(rest, "-vgpu")
		c.Model, c.Kind = model, UnitSlot
		return c, virtual && model != ""
	}
	return c, false
}

// isPartitionStyle matches <compute>_<memory>, such as cpx_nps4.
func isPartitionStyle(s string) bool {
	compute, memory, ok := strings.Cut(s, "_")
	digits, nps := strings.CutPrefix(memory, "nps")
	return ok && nps && all(digits, isDigit) && slices.Contains([]string{"spx", "dpx", "tpx", "qpx", "cpx"}, compute)
}
