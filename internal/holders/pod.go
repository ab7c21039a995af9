package holders

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/quantity"
)

// ResourceUnits is a number of units of one GPU resource, as the scheduler counts them.
type ResourceUnits struct {
	// Resource is the resource name, such as nvidia.com/gpu.
	Resource string
	// Count is how many units are held. It is more than 0.
	Count int64
}

// Holding is what one pod holds.
type Holding struct {
	// Node is the Node that the pod is bound to.
	Node string
	// Namespace is the pod's namespace.
	Namespace string
	// Units are what the pod's requests hold, sorted by resource name.
	Units []ResourceUnits
	// Claims are the names of the ResourceClaims that the pod uses, sorted. What they hold is not the pod's, see OfClaim.
	Claims []string
}

// Equal reports whether two holdings are the same.
func (h Holding) Equal(o Holding) bool {
	return h.Node == o.Node && h.Namespace == o.Namespace && slices.Equal(h.Units, o.Units) && slices.Equal(h.Claims, o.Claims)
}

// OfPod returns what a pod holds. It returns false for a pod that holds nothing: one that is not bound to a Node or has ended,
// and one that asks neither for GPU units nor for ResourceClaims. Nearly all pods are like that, so it costs no allocation.
// A pod that is being deleted holds units until it ends or its object goes.
//
// Units are counted as the scheduler does: app containers and sidecars together, or the largest init container with the
// sidecars before it, whichever is more; a limit without a request counts as a request. Neither resources of the pod as a
// whole nor overhead can be GPUs. A resource that a ResourceClaim backs is not among the units, because the claim holds the
// devices. Nor are quantities that come with a unit, such as HAMi's memory.
func OfPod(pod *corev1.Pod, opts gpu.Options) (Holding, bool) {
	if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return Holding{}, false
	}
	names := gpuResources(&pod.Spec, opts)
	backing := pod.Status.ExtendedResourceClaimStatus
	if len(names) == 0 && len(pod.Spec.ResourceClaims) == 0 && backing == nil {
		return Holding{}, false
	}
	h := Holding{Node: pod.Spec.NodeName, Namespace: pod.Namespace, Claims: claimNames(pod)}
	for _, name := range names {
		// The scheduler backs a resource on a node for the whole pod or not at all.
		if backing != nil && slices.ContainsFunc(backing.RequestMappings, func(m corev1.ContainerExtendedResourceRequest) bool {
			return m.ResourceName == string(name)
		}) {
			continue
		}
		if n := request(&pod.Spec, name); n > 0 {
			h.Units = append(h.Units, ResourceUnits{string(name), n})
		}
	}
	if len(h.Units)+len(h.Claims) == 0 {
		return Holding{}, false
	}
	slices.SortFunc(h.Units, func(a, b ResourceUnits) int { return cmp.Compare(a.Resource, b.Resource) })
	return h, true
}

// gpuResources returns the GPU resources that any container names, each once.
func gpuResources(spec *corev1.PodSpec, opts gpu.Options) (names []corev1.ResourceName) {
	for _, containers := range [...][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			r := &containers[i].Resources
			for _, list := range [...]corev1.ResourceList{r.Requests, r.Limits} {
				for name := range list {
					if isGPU(string(name), opts) && !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
		}
	}
	return names
}

// isGPU reports whether an inventory may show the resource.
func isGPU(name string, opts gpu.Options) bool {
	if strings.IndexByte(name, '/') < 0 {
		return false
	}
	_, ok := gpu.Classify(name, opts)
	return ok
}

// request returns the pod's effective request for one resource.
func request(spec *corev1.PodSpec, name corev1.ResourceName) int64 {
	var apps, sidecars, starting int64
	for i := range spec.Containers {
		apps += containerRequest(&spec.Containers[i], name)
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		n := containerRequest(c, name)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars += n
			n = 0
		}
		starting = max(starting, sidecars+n)
	}
	return min(max(apps+sidecars, starting), quantity.MaxUnits)
}

// containerRequest returns a container's request. The API server copies a limit to a missing request; a pod from a file may
// not have been through it.
func containerRequest(c *corev1.Container, name corev1.ResourceName) int64 {
	q, ok := c.Resources.Requests[name]
	if !ok {
		q = c.Resources.Limits[name]
	}
	n, _ := quantity.Units(q) // the API server accepts only whole units, and none below 0
	return n
}

// claimNames returns the ResourceClaims that the pod uses: by name, made from a template, or made for extended resources.
func claimNames(pod *corev1.Pod) (names []string) {
	add := func(name *string) {
		if name != nil && *name != "" {
			names = append(names, *name)
		}
	}
	for i := range pod.Spec.ResourceClaims {
		add(pod.Spec.ResourceClaims[i].ResourceClaimName)
	}
	for i := range pod.Status.ResourceClaimStatuses {
		add(pod.Status.ResourceClaimStatuses[i].ResourceClaimName)
	}
	if s := pod.Status.ExtendedResourceClaimStatus; s != nil {
		add(&s.ResourceClaimName)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
