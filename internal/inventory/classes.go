package inventory

import "github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"

// classOf is the class of a resource on a row. A name that the engine does not know is there because an option says that it
// counts.
func classOf(resource string) gpu.ResourceClass {
	class, ok := gpu.Classify(resource, gpu.Options{})
	if !ok {
		class, _ = gpu.Classify(resource, gpu.Options{ExtraResources: []string{resource}})
	}
	return class
}
