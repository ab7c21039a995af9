package gpu

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

func TestClassify(t *testing.T) {
	nvidia := func(kind UnitKind, model, profile string) ResourceClass {
		return ResourceClass{Vendor: v1.VendorNVIDIA, Kind: kind, Model: model, Profile: profile}
	}
	cases := map[string]ResourceClass{
		"nvidia.com/gpu":                           nvidia(UnitWhole, "", ""),
		"nvidia.com/gpu.shared":                    nvidia(UnitShared, "", ""),
		"nvidia.com/mig-1g.5gb.me":                 nvidia(UnitMIG, "", "1g.5gb.me"),
		"nvidia.com/mig-1g.10gb.shared":            nvidia(UnitMIGShared, "", "1g.10gb"),
		"nvidia.com/gpu-0":                         nvidia(UnitIndexed, "", ""),
		"nvidia.com/gpu-all":                       nvidia(UnitAlias, "", ""),
		"nvidia.com/gpu-10gb":                      nvidia(UnitSlot, "", ""),
		"nvidia.com/pgpu":                          nvidia(UnitPassthrough, "", ""),
		"nvidia.com/TU104GL_TESLA_T4":              nvidia(UnitPassthrough, "TU104GL_TESLA_T4", ""),
		"nvidia.com/20b5":                          nvidia(UnitPassthrough, "20b5", ""),
		"nvidia.com/GH100_H100L_94GB":              nvidia(UnitPassthrough, "GH100_H100L_94GB", ""),
		"nvidia.com/NVIDIA_A10-4Q":                 nvidia(UnitVGPU, "NVIDIA_A10", "4Q"),
		"nvidia.com/NVIDIA_A100-1-5C":              nvidia(UnitVGPU, "NVIDIA_A100", "1-5C"),
		"nvidia.com/NVIDIA_H100L-1-12CME":          nvidia(UnitVGPU, "NVIDIA_H100L", "1-12CME"),
		"nvidia.com/GRID_T4-16Q":                   nvidia(UnitVGPU, "GRID_T4", "16Q"),
		"nvidia.com/a10-for-vms":                   nvidia(UnitFree, "a10-for-vms", ""),
		"k8s.amazonaws.com/vgpu":                   nvidia(UnitSlot, "", ""),
		"volcano.sh/vgpu-memory":                   nvidia(UnitQuantity, "", ""),
		"amd.com/gpu":                              {Vendor: v1.VendorAMD, Kind: UnitWhole},
		"amd.com/cpx_nps4":                         {Vendor: v1.VendorAMD, Kind: UnitPartition, Profile: "cpx_nps4"},
		"gpu.intel.com/xe":                         {Vendor: v1.VendorIntel, Kind: UnitWhole},
		"habana.ai/gaudi":                          {Vendor: v1.VendorHabana, Kind: UnitWhole},
		"huawei.com/Ascend310P-4c":                 {Vendor: v1.VendorUnknown, Kind: UnitSlot, Model: "Ascend310P"},
		"iluvatar.ai/MR-V100-vgpu":                 {Vendor: v1.VendorUnknown, Kind: UnitSlot, Model: "MR-V100"},
		"nvidia.com/gpumem":                        {},
		"nvidia.com/gpucores":                      {},
		"nvidia.com/nvswitch":                      {},
		"nvidia.com/GH100_NVSWITCH":                {},
		"nvidia.com/AD102_HIGH_DEFINITION_AUDIO":   {},
		"nvidia.com/TU104_USB_3_1_HOST_CONTROLLER": {},
		"nvidia.com/mlnxnics":                      {},
		"nvidia.com/hostdev":                       {},
		"nvidia.com/sriov_rdma_vf":                 {},
		"nvidia.com/":                              {},
		"amd.com/xilinx_u200":                      {},
		"gpu.intel.com/monitoring":                 {},
		"gpu.intel.com/millicores":                 {},
		"google.com/tpu":                           {},
		"aws.amazon.com/neuron":                    {},
		"huawei.com/Ascend910B3-memory":            {},
		"iluvatar.ai/MR-V100.vCore":                {},
		"hugepages-2Mi":                            {},
		"devices.kubevirt.io/kvm":                  {},
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := Classify(name, Options{})
			if ok != (want.Kind != "") {
				t.Fatalf("Classify() ok = %v, want %v", ok, !ok)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(ResourceClass{})); ok && diff != "" {
				t.Errorf("Classify() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseProduct(t *testing.T) {
	cases := map[string]gfdProduct{
		"NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition-SHARED": {base: "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition", shared: true},
		"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED":                        {base: "NVIDIA-A100-SXM4-40GB", profile: "1g.5gb", shared: true},
		"NVIDIA-A100-SXM4-80GB-MIG-INVALID":                              {base: "NVIDIA-A100-SXM4-80GB", invalid: true},
		"Tesla-V100-SXM2-16GB-N":                                         {base: "Tesla-V100-SXM2-16GB-N"},
		"Card-MIG-Edition":                                               {base: "Card-MIG-Edition"},
		"-MIG-1g.5gb":                                                    {base: "-MIG-1g.5gb"},
	}
	for raw, want := range cases {
		want.raw = raw
		if got := parseProduct(raw); got != want {
			t.Errorf("parseProduct(%q) = %+v, want %+v", raw, got, want)
		}
	}
}

func TestDriverVendor(t *testing.T) {
	opts := Options{ExtraResources: []string{"dra:cards.example.com", "-dra:gpu.amd.com"}}
	for driver, want := range map[string]v1.Vendor{
		"gpu.nvidia.com": v1.VendorNVIDIA, "gpu.example.com": v1.VendorUnknown, "cards.example.com": v1.VendorUnknown,
		"compute-domain.nvidia.com": "", "gpu.amd.com": "", "neuron.aws.com": "",
	} {
		got, ok := DriverVendor(driver, opts)
		if ok != (want != "") || ok && got != want {
			t.Errorf("DriverVendor(%q) = %q, %v, want %q", driver, got, ok, want)
		}
	}
}
