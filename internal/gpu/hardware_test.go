package gpu

import (
	"testing"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/labelset"
)

func TestHardwareOf(t *testing.T) {
	cases := map[string]struct {
		labels map[string]string
		want   Hardware
	}{
		"no labels":          {want: HardwareUnknown},
		"labels of others":   {labels: map[string]string{"nvidia.com/gpu.present": "true"}, want: HardwareUnknown},
		"a GPU on the bus":   {labels: map[string]string{"feature.node.kubernetes.io/pci-0302_10de.present": "true"}, want: HardwareSeen},
		"a rule for Intel":   {labels: map[string]string{"intel.feature.node.kubernetes.io/gpu": "true"}, want: HardwareSeen},
		"no GPU on the bus":  {labels: map[string]string{"feature.node.kubernetes.io/pci-0200_8086.present": "true"}, want: HardwareAbsent},
		"nothing of the bus": {labels: map[string]string{"feature.node.kubernetes.io/cpu-cpuid.AVX2": "true"}, want: HardwareAbsent},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := HardwareOf(labelset.Of(tc.labels)); got != tc.want {
				t.Errorf("HardwareOf() = %d, want %d", got, tc.want)
			}
		})
	}
}
