package holders

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Servers convert between the versions of ResourceClaim; files do not. These functions convert the fields that OfClaim
// reads, and no others.

// FromV1beta1 converts a ResourceClaim of resource.k8s.io/v1beta1.
func FromV1beta1(in *resourcev1beta1.ResourceClaim) resourcev1.ResourceClaim {
	a := in.Status.Allocation
	if a == nil {
		return convertClaim(in.ObjectMeta, nil)
	}
	out := allocated(a.NodeSelector)
	for i := range a.Devices.Results {
		r := &a.Devices.Results[i]
		out.Devices.Results = append(out.Devices.Results, result(r.Driver, r.Pool, r.Device, r.AdminAccess))
	}
	return convertClaim(in.ObjectMeta, out)
}

// FromV1beta2 converts a ResourceClaim of resource.k8s.io/v1beta2.
func FromV1beta2(in *resourcev1beta2.ResourceClaim) resourcev1.ResourceClaim {
	a := in.Status.Allocation
	if a == nil {
		return convertClaim(in.ObjectMeta, nil)
	}
	out := allocated(a.NodeSelector)
	for i := range a.Devices.Results {
		r := &a.Devices.Results[i]
		out.Devices.Results = append(out.Devices.Results, result(r.Driver, r.Pool, r.Device, r.AdminAccess))
	}
	return convertClaim(in.ObjectMeta, out)
}

func convertClaim(meta metav1.ObjectMeta, allocation *resourcev1.AllocationResult) resourcev1.ResourceClaim {
	return resourcev1.ResourceClaim{ObjectMeta: meta, Status: resourcev1.ResourceClaimStatus{Allocation: allocation}}
}

func allocated(selector *corev1.NodeSelector) *resourcev1.AllocationResult {
	return &resourcev1.AllocationResult{NodeSelector: selector}
}

func result(driver, pool, device string, admin *bool) resourcev1.DeviceRequestAllocationResult {
	return resourcev1.DeviceRequestAllocationResult{Driver: driver, Pool: pool, Device: device, AdminAccess: admin}
}
