package holders

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A server converts between the versions of ResourceClaim. A claim in a file has to be converted here: the fields that OfClaim
// reads, and no others.

// FromV1beta1 converts a ResourceClaim of resource.k8s.io/v1beta1.
func FromV1beta1(in *resourcev1beta1.ResourceClaim) resourcev1.ResourceClaim {
	a := in.Status.Allocation
	if a == nil {
		return resourcev1.ResourceClaim{ObjectMeta: in.ObjectMeta}
	}
	return allocated(in.ObjectMeta, a.NodeSelector, a.Devices.Results, func(r *resourcev1beta1.DeviceRequestAllocationResult) converted {
		return converted{Driver: r.Driver, Pool: r.Pool, Device: r.Device, AdminAccess: r.AdminAccess}
	})
}

// FromV1beta2 converts a ResourceClaim of resource.k8s.io/v1beta2.
func FromV1beta2(in *resourcev1beta2.ResourceClaim) resourcev1.ResourceClaim {
	a := in.Status.Allocation
	if a == nil {
		return resourcev1.ResourceClaim{ObjectMeta: in.ObjectMeta}
	}
	return allocated(in.ObjectMeta, a.NodeSelector, a.Devices.Results, func(r *resourcev1beta2.DeviceRequestAllocationResult) converted {
		return converted{Driver: r.Driver, Pool: r.Pool, Device: r.Device, AdminAccess: r.AdminAccess}
	})
}

type converted = resourcev1.DeviceRequestAllocationResult

// allocated returns a claim with an allocation. convert is applied to each result.
func allocated[R any](meta metav1.ObjectMeta, selector *corev1.NodeSelector, results []R, convert func(*R) converted) resourcev1.ResourceClaim {
	a := &resourcev1.AllocationResult{NodeSelector: selector}
	for i := range results {
		a.Devices.Results = append(a.Devices.Results, convert(&results[i]))
	}
	return resourcev1.ResourceClaim{ObjectMeta: meta, Status: resourcev1.ResourceClaimStatus{Allocation: a}}
}
