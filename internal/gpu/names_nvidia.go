package gpu

import (
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// The domain nvidia.com is shared by GPUs, MIG instances, vGPUs, PCI functions bound to vfio, generic CDI devices, network
// cards and pod-side quantities. A prefix match would count all of them, so every form is told apart by its grammar:
//
//	gpu, gpu.shared                 device plugin: GPUs or replicas
//	mig-1g.10gb, mig-1g.10gb.shared device plugin, MIG strategy mixed
//	gpu-0, gpu-all                  generic CDI plugins: the same cards under several names
//	GA102GL_A10, 20b5, pgpu         KubeVirt and Kata passthrough: one resource for each PCI device ID
//	NVIDIA_A10-12Q                  KubeVirt vGPU: one resource for each vGPU type

const nvidiaDomain = "nvidia.com/"

// notGPUWords mark functions of a card, or other devices, that are advertised beside GPUs and are none.
var notGPUWords = []string{
	"AUDIO", "NVSWITCH", "USB", "UCSI", "SERIAL_BUS", "BRIDGE", "ETHERNET", "CONNECTX", "BLUEFIELD", "MLNX", "NIC", "RDMA",
	"ROCE", "HOSTDEV", "SRIOV", "INFINIBAND", "NETWORK", "SMBUS", "SATA", "GPUMEM", "GPUCORES", "PRIORITY",
}

// notGPU reports whether a name under nvidia.com names something else than a GPU.
func notGPU(name string) bool {
	upper := strings.ToUpper(name)
	for _, w := range notGPUWords {
		if strings.Contains(upper, w) {
			return true
		}
	}
	return false
}

// classifyNVIDIA reads a resource name without its domain nvidia.com.
func classifyNVIDIA(name string) (ResourceClass, bool) {
	c := ResourceClass{Vendor: v1.VendorNVIDIA}
	base, shared := strings.CutSuffix(name, ".shared")
	switch {
	case base == "gpu":
		c.Kind = pick(shared, UnitShared, UnitWhole)
	case isMIGName(base):
		c.Kind, c.Profile = pick(shared, UnitMIGShared, UnitMIG), strings.TrimPrefix(base, "mig-")
	case name == "vgpu":
		c.Kind = UnitSlot
	case name == "pgpu":
		c.Kind = UnitPassthrough
	case strings.HasPrefix(name, "gpu-"):
		return classifyCDI(c, strings.TrimPrefix(name, "gpu-"))
	default:
		return classifyVM(c, name)
	}
	return c, true
}

func pick(yes bool, a, b UnitKind) UnitKind {
	if yes {
		return a
	}
	return b
}

func isMIGName(name string) bool {
	profile, ok := strings.CutPrefix(name, "mig-")
	return ok && isProfile(profile)
}

// isProfile reports whether a text looks like a MIG profile: a digit first, then "g." somewhere, as in 1g.10gb.me.
func isProfile(s string) bool {
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Contains(s, "g.")
}

// classifyCDI reads what follows "gpu-" in the names of plugins that list every CDI device as a resource.
func classifyCDI(c ResourceClass, device string) (ResourceClass, bool) {
	switch {
	case device == "all":
		c.Kind = UnitAlias
	case all(device, isDigit):
		c.Kind = UnitIndexed
	case strings.HasSuffix(device, "gb") && all(strings.TrimSuffix(device, "gb"), isDigit):
		c.Kind = UnitSlot // a share of a GPU's memory, as dynamic MPS partitioning names it
	default:
		return classifyVM(c, "gpu-"+device)
	}
	return c, true
}

// classifyVM reads the names that the KubeVirt device plugin makes from the PCI database and from vGPU types.
func classifyVM(c ResourceClass, name string) (ResourceClass, bool) {
	if notGPU(name) {
		return c, false
	}
	if base, profile, ok := cutVGPU(name); ok {
		c.Kind, c.Model, c.Profile = UnitVGPU, base, profile
		return c, true
	}
	switch {
	case len(name) == 4 && all(name, isHex), strings.ContainsFunc(name, isUpper) && all(name, isPCIName):
		c.Kind, c.Model = UnitPassthrough, name
	case all(name, isFreeName):
		c.Kind, c.Model = UnitFree, name
	default:
		return c, false
	}
	return c, true
}

// cutVGPU splits a vGPU type such as NVIDIA_A10-12Q or NVIDIA_A100-1-5C into the model and the type.
func cutVGPU(name string) (base, profile string, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 || !isVGPUSize(name[i+1:]) {
		return "", "", false
	}
	base, profile = name[:i], name[i+1:]
	// A vGPU backed by a MIG instance has its number of compute slices before the size.
	if j := strings.LastIndexByte(base, '-'); j > 0 && len(base)-j == 2 && isDigit(rune(base[j+1])) {
		base, profile = base[:j], base[j+1:]+"-"+profile
	}
	return base, profile, true
}

// isVGPUSize matches 12Q, 8A, 4C, 10CME: gigabytes, then the licence letter.
func isVGPUSize(s string) bool {
	s = strings.TrimSuffix(s, "ME")
	return len(s) >= 2 && len(s) <= 5 && strings.IndexByte("ABCQ", s[len(s)-1]) >= 0 && all(s[:len(s)-1], isDigit)
}

func all(s string, is func(rune) bool) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !is(r) })
}

func isDigit(r rune) bool   { return r >= '0' && r <= '9' }
func isUpper(r rune) bool   { return r >= 'A' && r <= 'Z' }
func isLower(r rune) bool   { return r >= 'a' && r <= 'z' }
func isHex(r rune) bool     { return isDigit(r) || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F' }
func isPCIName(r rune) bool { return isUpper(r) || isDigit(r) || r == '_' || r == '-' }
func isFreeName(r rune) bool {
	return isUpper(r) || isLower(r) || isDigit(r) || r == '_' || r == '-' || r == '.'
}
