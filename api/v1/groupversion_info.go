package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind and Resource are the names under which the API server serves GpuInventory objects.
const (
	Kind     = "GpuInventory"
	Resource = "gpuinventories"
)

// GroupVersion is the group and version of this package's types.
var GroupVersion = schema.GroupVersion{Group: "homelab.youngju.dev", Version: "v1"}

// AddToScheme registers this package's types with a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &GpuInventory{}, &GpuInventoryList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
