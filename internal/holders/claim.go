package holders

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// Claim is what one ResourceClaim holds.
type Claim struct {
	// Namespace is the claim's namespace.
	Namespace string
	// Node is the one Node where the claim can be used. Empty: the allocation names none.
	Node string
	// Devices are the devices of GPU drivers that the claim holds, sorted, each once.
	Devices []dra.DeviceID
}

// Equal reports whether two claims hold the same.
func (c Claim) Equal(o Claim) bool {
	return c.Namespace == o.Namespace && c.Node == o.Node && slices.Equal(c.Devices, o.Devices)
}

// OfClaim returns what a ResourceClaim holds. It returns false for a claim that holds no device of a GPU driver. An allocated
// claim holds its devices however many pods use it, even when none does. Access for an administrator holds nothing: it
// watches devices that others hold.
func OfClaim(claim *resourcev1.ResourceClaim, opts gpu.Options) (Claim, bool) {
	allocation := claim.Status.Allocation
	if allocation == nil {
		return Claim{}, false
	}
	c := Claim{Namespace: claim.Namespace, Node: nodeOf(allocation.NodeSelector)}
	for i := range allocation.Devices.Results {
		r := &allocation.Devices.Results[i]
		if r.AdminAccess != nil && *r.AdminAccess {
			continue
		}
		if _, ok := gpu.DriverVendor(r.Driver, opts); ok {
			c.Devices = append(c.Devices, dra.DeviceID{Driver: r.Driver, Pool: r.Pool, Device: r.Device})
		}
	}
	if len(c.Devices) == 0 {
		return Claim{}, false
	}
	slices.SortFunc(c.Devices, func(a, b dra.DeviceID) int {
		return cmp.Or(cmp.Compare(a.Driver, b.Driver), cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.Device, b.Device))
	})
	c.Devices = slices.Compact(c.Devices) // a claim can have several shares of one device
	return c, true
}

// nodeOf returns the one Node that a selector selects by name, in the form that the scheduler writes for devices of a node.
func nodeOf(selector *corev1.NodeSelector) string {
	if selector == nil || len(selector.NodeSelectorTerms) != 1 {
		return ""
	}
	for _, f := range selector.NodeSelectorTerms[0].MatchFields {
		if f.Key == "metadata.name" && f.Operator == corev1.NodeSelectorOpIn && len(f.Values) == 1 {
			return f.Values[0]
		}
	}
	return ""
}
