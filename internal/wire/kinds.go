package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
)

// kinds are the fields that are kept of each kind: what gpu.FactsOf keeps of a Node, what holders.OfPod reads of a Pod, and what
// a watch needs. Kinds without an entry stay whole. The numbers are those of generated.proto in k8s.io/api/core/v1.
var kinds = map[string]fields{
	"Node":     node,
	"NodeList": list(node),
	"Pod":      pod,
	"PodList":  list(pod),
}

// list returns the fields of a list of items. Its metadata has the resource version and where the next page begins.
func list(item fields) fields { return fields{1: {}, 2: {of: item}} }

var node = fields{
	1: {of: fields{ // metadata
		1:  {}, // name
		5:  {}, // uid
		6:  {}, // resourceVersion
		8:  {}, // creationTimestamp
		9:  {}, // deletionTimestamp
		11: {}, // labels
		12: {key: func(key string) bool { return gpu.ReadsAnnotation(key) || endsList(key) }},
	}},
	2: {of: fields{ // spec
		4: {}, // unschedulable
	}},
	3: {of: fields{ // status
		1: {}, // capacity
		2: {}, // allocatable
		4: {}, // conditions
	}},
}

var pod = fields{
	1: {of: fields{ // metadata
		1:  {}, // name
		3:  {}, // namespace
		6:  {}, // resourceVersion
		12: {key: endsList},
	}},
	2: {of: fields{ // spec
		2:  {of: container}, // containers
		10: {},              // nodeName
		20: {of: container}, // initContainers
		39: {},              // resourceClaims
	}},
	3: {of: fields{ // status
		1:  {}, // phase
		15: {}, // resourceClaimStatuses
		18: {}, // extendedResourceClaimStatus
	}},
}

var container = fields{
	8:  {}, // resources
	24: {}, // restartPolicy
}

// endsList reports whether key is the annotation that marks the end of a list in a watch.
func endsList(key string) bool { return key == metav1.InitialEventsAnnotationKey }
