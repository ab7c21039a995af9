package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GpuInventory is the truth about a cluster's GPUs, or about those of a part of it: which are there, which can be used
// now, why the others cannot.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,path=gpuinventories,singular=gpuinventory,shortName=gpuinv
// +kubebuilder:printcolumn:name="Nodes",type=integer,JSONPath=`.status.totalGpuNodes`,description="GPU nodes seen"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyGpuNodes`,description="GPU nodes usable now"
// +kubebuilder:printcolumn:name="GPUs",type=integer,JSONPath=`.status.totalGpus`,description="Physical GPUs known"
// +kubebuilder:printcolumn:name="ReadyGPUs",type=integer,JSONPath=`.status.readyGpus`,description="Healthy GPUs on ready nodes"
// +kubebuilder:printcolumn:name="Free",type=integer,JSONPath=`.status.freeGpus`,description="Whole GPUs that nobody holds"
// +kubebuilder:printcolumn:name="Healthy",type=string,JSONPath=`.status.conditions[?(@.type=="Healthy")].status`,description="True when every GPU node is ready and every known GPU is allocatable"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Observed",type=date,priority=1,JSONPath=`.status.observedAt`,description="When the content last changed"
// +kubebuilder:printcolumn:name="Note",type=string,priority=1,JSONPath=`.spec.note`
type GpuInventory struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec says which Nodes the inventory covers and what should be there.
	// +optional
	Spec GpuInventorySpec `json:"spec,omitzero"`
	// status is what the operator saw. Absent until the operator has read every Node once.
	// +optional
	Status GpuInventoryStatus `json:"status,omitzero"`
}

// GpuInventoryList is a list of GpuInventory objects.
//
// +kubebuilder:object:root=true
type GpuInventoryList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the objects.
	Items []GpuInventory `json:"items"`
}

// GpuInventorySpec says which Nodes an inventory covers and what should be there.
type GpuInventorySpec struct {
	// note is free text for people. It changes nothing.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Note string `json:"note,omitempty"`

	// nodeSelector selects the Nodes that this inventory covers. Absent or empty covers every Node.
	// +optional
	NodeSelector *NodeSelector `json:"nodeSelector,omitempty"`

	// expected declares pools of GPU nodes that should be there. With it, the condition AsExpected says whether they are.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Expected []ExpectedPool `json:"expected,omitempty"`
}

// ExpectedPool declares a pool of GPU nodes that should be there.
type ExpectedPool struct {
	// name identifies the pool in messages, metrics and Events.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// nodeSelector selects the pool's Nodes among those that the inventory covers. Absent or empty takes all of them.
	// +optional
	NodeSelector *NodeSelector `json:"nodeSelector,omitempty"`

	// product restricts the pool to GPUs of this product, without suffixes such as -SHARED. Absent takes any product.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Product string `json:"product,omitempty"`

	// nodes is how many GPU nodes the pool should have.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	Nodes int32 `json:"nodes"`

	// gpusPerNode is how many physical GPUs each of the nodes should have. Absent: only nodes are compared.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	GpusPerNode *int32 `json:"gpusPerNode,omitempty"`
}

// NodeSelector selects Nodes by label, in the form of a Kubernetes label selector with bounds on its size: all of its
// requirements must hold, and an empty one selects every Node.
type NodeSelector struct {
	// matchLabels are labels that a Node must have, with these values.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	MatchLabels map[string]string `json:"matchLabels,omitempty"`

	// matchExpressions are requirements that a Node's labels must meet.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	MatchExpressions []NodeSelectorRequirement `json:"matchExpressions,omitempty"`
}

// NodeSelectorRequirement is a requirement on one label.
//
// +kubebuilder:validation:XValidation:rule="(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",message="In and NotIn need values; Exists and DoesNotExist take none"
type NodeSelectorRequirement struct {
	// key is the label's key.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key string `json:"key"`

	// operator is In, NotIn, Exists or DoesNotExist.
	// +required
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
	Operator metav1.LabelSelectorOperator `json:"operator"`

	// values are what In and NotIn compare with.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	Values []string `json:"values,omitempty"`
}

// GpuInventoryStatus is what the operator saw. An absent field means unknown; 0 means that a source said 0.
type GpuInventoryStatus struct {
	// conditions are Healthy, Complete and, with spec.expected, AsExpected. All True means that there is nothing to do.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status answers.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// observedAt is when the content of this status last changed. It does not move while the content stays the same.
	// +optional
	ObservedAt *metav1.Time `json:"observedAt,omitempty"`

	// totalGpuNodes is the number of GPU nodes seen. A GPU node is a Node with any evidence of a GPU, usable or not.
	// Absent until every Node has been read.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TotalGpuNodes *int32 `json:"totalGpuNodes,omitempty"`

	// readyGpuNodes is how many of them are usable for GPU work now.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyGpuNodes *int32 `json:"readyGpuNodes,omitempty"`

	// totalGpus is the number of physical GPUs known, last-known ones included; never slices, replicas or vGPUs. Absent
	// when there are GPU nodes and no count of any of them is known. See unknownGpuNodes for what it leaves out.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TotalGpus *int32 `json:"totalGpus,omitempty"`

	// readyGpus is how many of them are healthy and on ready nodes. Absent when there are ready nodes and no count of any
	// of them is known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyGpus *int32 `json:"readyGpus,omitempty"`

	// freeGpus is the number of whole GPUs that nobody holds, on ready schedulable nodes: 0 without such a node. Absent while
	// it is not known who holds GPUs, or how many there are.
	// +optional
	// +kubebuilder:validation:Minimum=0
	FreeGpus *int32 `json:"freeGpus,omitempty"`

	// unknownGpuNodes is the number of GPU nodes whose physical count is not known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UnknownGpuNodes *int32 `json:"unknownGpuNodes,omitempty"`

	// products has one row per vendor and product, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	Products []ProductSummary `json:"products,omitempty"`

	// resources has one row per schedulable resource name, sorted, in the units that the scheduler counts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2000
	Resources []ResourceSummary `json:"resources,omitempty"`

	// nodes has one row per GPU node: those that are not ready first, then by name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20000
	Nodes []GpuNode `json:"nodes,omitempty"`

	// nodesOmitted is the number of rows left out of nodes to keep the object within its size budget. Totals, products and
	// resources cover the omitted nodes all the same. Absent means none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	NodesOmitted int32 `json:"nodesOmitted,omitempty"`
}

// ProductSummary counts the GPUs of one vendor and product.
type ProductSummary struct {
	// vendor is the maker: nvidia, amd, intel, habana or unknown.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Vendor Vendor `json:"vendor"`

	// product is the base model, without suffixes such as -SHARED. Absent: no source names it.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Product string `json:"product,omitempty"`

	// nodes is the number of nodes with this product.
	// +required
	// +kubebuilder:validation:Minimum=0
	Nodes int32 `json:"nodes"`

	// readyNodes is how many of them are ready.
	// +required
	// +kubebuilder:validation:Minimum=0
	ReadyNodes int32 `json:"readyNodes"`

	// gpus is the number of physical GPUs known. Absent: no count of any of the nodes is known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Gpus *int32 `json:"gpus,omitempty"`

	// readyGpus is how many of them are healthy and on ready nodes. Absent: there are ready nodes, and no count of any of
	// them is known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyGpus *int32 `json:"readyGpus,omitempty"`

	// freeGpus is the number of whole GPUs that nobody holds, on ready schedulable nodes. Absent: not known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	FreeGpus *int32 `json:"freeGpus,omitempty"`

	// largestFree is the most free GPUs on one node: the biggest single-node job that fits. Absent: not known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	LargestFree *int32 `json:"largestFree,omitempty"`
}

// ResourceSummary adds up one schedulable resource name over the GPU nodes, in the units that the scheduler counts. A unit
// may be a GPU, a time slice, a MIG instance or a vGPU: units of different names must not be added.
type ResourceSummary struct {
	// name is the resource name, such as nvidia.com/gpu, or dra:<driver> for the devices of a DRA driver.
	// +required
	// +kubebuilder:validation:MaxLength=317
	Name string `json:"name"`

	// capacity is the number of units that the nodes have.
	// +required
	// +kubebuilder:validation:Minimum=0
	Capacity int64 `json:"capacity"`

	// allocatable is the number of units that the kubelets offer.
	// +required
	// +kubebuilder:validation:Minimum=0
	Allocatable int64 `json:"allocatable"`

	// allocated is the number of units that pods hold. Absent: not known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Allocated *int64 `json:"allocated,omitempty"`

	// free is the number of units that nobody holds, on ready schedulable nodes. Absent: not known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Free *int64 `json:"free,omitempty"`
}

// GpuNode is what is known of one GPU node.
type GpuNode struct {
	// name is the Node's name.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// ready says whether the node is usable for GPU work now: Node Ready is True, it is not being deleted, at least one GPU
	// unit is allocatable, no fault of the whole node's GPUs is reported and no reconfiguration is under way. A cordon, a
	// taint or pressure does not make it unready.
	// +required
	Ready bool `json:"ready"`

	// reason says why the node is not ready, or OK.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Reason Reason `json:"reason"`

	// message says what was seen, where, since when, and the likeliest cause. Absent when there is nothing to add.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// gpuCount is the number of physical GPUs. Absent: not known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	GpuCount *int32 `json:"gpuCount,omitempty"`

	// gpus has one row per vendor and product on this node, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Gpus []GpuGroup `json:"gpus,omitempty"`

	// sharing says how the GPUs are divided among pods: none, time-slicing, mps, mig, mig+time-slicing, vgpu, partition or
	// other. Absent: not known.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Sharing Sharing `json:"sharing,omitempty"`

	// workloadMode says what the GPUs are prepared for: container, vm-passthrough or vm-vgpu.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	WorkloadMode WorkloadMode `json:"workloadMode,omitempty"`

	// unschedulable is true when the node is cordoned or being deleted. Absent otherwise.
	// +optional
	Unschedulable bool `json:"unschedulable,omitempty"`

	// resources has one row per schedulable GPU resource of the node, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Resources []NodeResource `json:"resources,omitempty"`

	// warnings name what a person should know and what does not change ready, sorted.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=63
	Warnings []Warning `json:"warnings,omitempty"`

	// lastSeen is when last-known facts were last read. Present only with the source lastKnown.
	// +optional
	LastSeen *metav1.Time `json:"lastSeen,omitempty"`
}

// GpuGroup is the GPUs of one vendor and product on a node.
type GpuGroup struct {
	// vendor is the maker: nvidia, amd, intel, habana or unknown.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Vendor Vendor `json:"vendor"`

	// product is the base model, without suffixes such as -SHARED. Absent: no source names it.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Product string `json:"product,omitempty"`

	// variant is how the product is offered: SHARED, MIG-<profile>, MIG-<profile>-SHARED, MIG-mixed, MIG-INVALID,
	// vGPU-<type>, vGPU-mixed, <compute>_<memory> or mixed-partitions. Absent: as it is.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Variant string `json:"variant,omitempty"`

	// count is the number of physical GPUs of this product. Absent: not known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Count *int32 `json:"count,omitempty"`

	// memoryMiB is the memory of one physical GPU in MiB. Absent: not known.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MemoryMiB *int64 `json:"memoryMiB,omitempty"`

	// memoryPerUnitMiB is the memory of one slice in MiB, where only that is known.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MemoryPerUnitMiB *int64 `json:"memoryPerUnitMiB,omitempty"`

	// source is the evidence that the row was read from: slices, labels, annotation, resources, cloud or lastKnown. Absent:
	// nothing but the presence of hardware, or of an intention, is known.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Source Source `json:"source,omitempty"`
}

// NodeResource is one schedulable GPU resource of a node, in the units that the scheduler counts.
type NodeResource struct {
	// name is the resource name, such as nvidia.com/gpu, or dra:<driver> for the devices of a DRA driver.
	// +required
	// +kubebuilder:validation:MaxLength=317
	Name string `json:"name"`

	// capacity is the number of units that the node has.
	// +required
	// +kubebuilder:validation:Minimum=0
	Capacity int64 `json:"capacity"`

	// allocatable is the number of units that the kubelet offers. It is lower than capacity when devices are unhealthy.
	// +required
	// +kubebuilder:validation:Minimum=0
	Allocatable int64 `json:"allocatable"`

	// allocated is the number of units that pods hold. Absent: not known.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Allocated *int64 `json:"allocated,omitempty"`
}
