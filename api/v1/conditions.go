package v1

// Condition types of a GpuInventory. All True means that there is nothing to do.
const (
	// ConditionHealthy is True when every GPU node is ready and every known GPU is allocatable. Its message names the
	// first nodes that are not, with their reasons.
	ConditionHealthy = "Healthy"
	// ConditionComplete is True when every input has synced, every GPU node's product and count were read from a live
	// source, and no row was left out.
	ConditionComplete = "Complete"
	// ConditionAsExpected is True when what was found equals spec.expected. It is absent without spec.expected.
	ConditionAsExpected = "AsExpected"
)

// Condition reasons of a GpuInventory.
const (
	// ConditionReasonAllReady says that every GPU node is ready.
	ConditionReasonAllReady = "AllReady"
	// ConditionReasonNoGpuNodes says that no Node that the inventory covers shows any evidence of GPUs.
	ConditionReasonNoGpuNodes = "NoGpuNodes"
	// ConditionReasonNodesNotReady says that GPU nodes are not ready.
	ConditionReasonNodesNotReady = "NodesNotReady"
	// ConditionReasonGpusUnhealthy says that all GPU nodes are ready, but some GPUs on them are not allocatable.
	ConditionReasonGpusUnhealthy = "GpusUnhealthy"
	// ConditionReasonAllRead says that every fact was read from a live source.
	ConditionReasonAllRead = "AllRead"
	// ConditionReasonFactsUnknown says that the product or the count of some GPU nodes is not known.
	ConditionReasonFactsUnknown = "FactsUnknown"
	// ConditionReasonRowsOmitted says that rows of healthy nodes were left out to keep the object within its size budget.
	ConditionReasonRowsOmitted = "RowsOmitted"
	// ConditionReasonInputsNotSynced says that an input of the inventory has not been read yet.
	ConditionReasonInputsNotSynced = "InputsNotSynced"
	// ConditionReasonInvalidSelector says that spec.nodeSelector cannot be used, so nothing was counted.
	ConditionReasonInvalidSelector = "InvalidSelector"
	// ConditionReasonExpectationMet says that what was found equals what was declared.
	ConditionReasonExpectationMet = "ExpectationMet"
	// ConditionReasonExpectationMissed says that what was found differs from what was declared.
	ConditionReasonExpectationMissed = "ExpectationMissed"
)

// Reason says why a node's GPUs cannot be used, or OK. Later versions may add values; treat one that you do not know as
// "not ready".
type Reason string

// Reasons of a node, in the order in which they are looked for: the first match wins.
const (
	// ReasonNodeDeleting: the Node is being deleted.
	ReasonNodeDeleting Reason = "NodeDeleting"
	// ReasonNodeStatusUnknown: the Node's Ready condition is Unknown, in most cases because its kubelet went silent.
	ReasonNodeStatusUnknown Reason = "NodeStatusUnknown"
	// ReasonNodeNotReady: the Node's Ready condition is False; the message has the kubelet's own words.
	ReasonNodeNotReady Reason = "NodeNotReady"
	// ReasonReadyConditionMissing: the Node has no Ready condition; it has just registered, or nothing runs behind it.
	ReasonReadyConditionMissing Reason = "ReadyConditionMissing"
	// ReasonDriverUpgrading: the GPU driver is being upgraded on this node.
	ReasonDriverUpgrading Reason = "DriverUpgrading"
	// ReasonDriverUpgradeFailed: a driver upgrade failed and waits for a person.
	ReasonDriverUpgradeFailed Reason = "DriverUpgradeFailed"
	// ReasonMIGReconfiguring: the MIG layout is being changed.
	ReasonMIGReconfiguring Reason = "MIGReconfiguring"
	// ReasonMIGInvalid: the MIG layout does not fit the configured strategy, so the device plugin offers nothing.
	ReasonMIGInvalid Reason = "MIGInvalid"
	// ReasonMIGEnabledNoInstances: MIG is on but no instance exists, so nothing can be allocated.
	ReasonMIGEnabledNoInstances Reason = "MIGEnabledNoInstances"
	// ReasonVgpuReconfiguring: the vGPU configuration of the node is being changed.
	ReasonVgpuReconfiguring Reason = "VgpuReconfiguring"
	// ReasonVgpuConfigFailed: the vGPU configuration of the node failed.
	ReasonVgpuConfigFailed Reason = "VgpuConfigFailed"
	// ReasonOperandsDisabled: an administrator has switched the GPU operands off on this node.
	ReasonOperandsDisabled Reason = "OperandsDisabled"
	// ReasonGpuHealthCondition: a Node condition reports a GPU fault; the message names the condition.
	ReasonGpuHealthCondition Reason = "GpuHealthCondition"
	// ReasonResourceSlicePoolIncomplete: the DRA driver has published only a part of its pool.
	ReasonResourceSlicePoolIncomplete Reason = "ResourceSlicePoolIncomplete"
	// ReasonNoAllocatableGpu: GPU units are registered, and none is allocatable.
	ReasonNoAllocatableGpu Reason = "NoAllocatableGpu"
	// ReasonDevicePluginNotRegistered: GPU hardware is evident, but no GPU resource is registered with the kubelet.
	ReasonDevicePluginNotRegistered Reason = "DevicePluginNotRegistered"
	// ReasonOK: the node's GPUs can be used.
	ReasonOK Reason = "OK"
)

// Warning names something that a person should know and that does not change whether a node is ready.
type Warning string

// Warnings of a node.
const (
	// WarningCordoned: the Node is marked unschedulable.
	WarningCordoned Warning = "Cordoned"
	// WarningLabelsMissing: the node has GPUs, but the labels that name them are not there.
	WarningLabelsMissing Warning = "LabelsMissing"
	// WarningSomeGpusUnhealthy: fewer units are allocatable than the node has.
	WarningSomeGpusUnhealthy Warning = "SomeGpusUnhealthy"
	// WarningCountMismatch: two sources disagree about the number of GPUs.
	WarningCountMismatch Warning = "CountMismatch"
	// WarningGpuMissing: fewer GPUs than before, or than the machine type or a learned label says.
	WarningGpuMissing Warning = "GpuMissing"
	// WarningInvalidLabel: the value of a label, an annotation or a resource cannot be read; its fact is unknown.
	WarningInvalidLabel Warning = "InvalidLabel"
	// WarningInvalidWorkloadConfig: nvidia.com/gpu.workload.config has a value that the GPU Operator ignores.
	WarningInvalidWorkloadConfig Warning = "InvalidWorkloadConfig"
	// WarningWorkloadModeMismatch: the declared workload mode and the operands or resources on the node disagree.
	WarningWorkloadModeMismatch Warning = "WorkloadModeMismatch"
	// WarningReplicasMismatch: units and the replicas label disagree.
	WarningReplicasMismatch Warning = "ReplicasMismatch"
	// WarningOverlappingResources: several resource names may count the same GPUs.
	WarningOverlappingResources Warning = "OverlappingResources"
	// WarningLabelConflict: labels of different sources contradict each other.
	WarningLabelConflict Warning = "LabelConflict"
	// WarningMemoryLabelImplausible: a memory label cannot be MiB per GPU; it was read as bytes, if that makes sense.
	WarningMemoryLabelImplausible Warning = "MemoryLabelImplausible"
	// WarningMixedProducts: the node has GPUs of several products, of which labels name one at a time.
	WarningMixedProducts Warning = "MixedProducts"
	// WarningMIGConfigFailed: the last change of the MIG layout failed.
	WarningMIGConfigFailed Warning = "MIGConfigFailed"
	// WarningDriverUpgradePending: a driver upgrade is queued.
	WarningDriverUpgradePending Warning = "DriverUpgradePending"
	// WarningMemoryPressure: the kubelet reports memory pressure.
	WarningMemoryPressure Warning = "MemoryPressure"
	// WarningDiskPressure: the kubelet reports disk pressure.
	WarningDiskPressure Warning = "DiskPressure"
	// WarningPIDPressure: the kubelet reports too few process IDs.
	WarningPIDPressure Warning = "PIDPressure"
	// WarningNetworkUnavailable: the node's network is not configured.
	WarningNetworkUnavailable Warning = "NetworkUnavailable"
	// WarningPodAdmissionFailures: the kubelet refused pods that the scheduler had placed here.
	WarningPodAdmissionFailures Warning = "PodAdmissionFailures"
	// WarningSimulated: the node is simulated; no hardware stands behind it.
	WarningSimulated Warning = "Simulated"
)

// Vendor names a maker of accelerators.
type Vendor string

// Vendors.
const (
	VendorNVIDIA  Vendor = "nvidia"
	VendorAMD     Vendor = "amd"
	VendorIntel   Vendor = "intel"
	VendorHabana  Vendor = "habana"
	VendorUnknown Vendor = "unknown"
)

// Source names the kind of evidence that a fact was read from.
type Source string

// Sources, from the most to the least exact.
const (
	// SourceSlices is the ResourceSlices of a DRA driver.
	SourceSlices Source = "slices"
	// SourceLabels is labels written by a vendor's feature discovery.
	SourceLabels Source = "labels"
	// SourceAnnotation is an annotation that lists the GPUs, as HAMi writes it.
	SourceAnnotation Source = "annotation"
	// SourceResources is the extended resources in the Node's status.
	SourceResources Source = "resources"
	// SourceCloud is labels of a cloud provider or an autoscaler about the machine type.
	SourceCloud Source = "cloud"
	// SourceLastKnown marks facts that were read earlier and can no longer be read.
	SourceLastKnown Source = "lastKnown"
)

// Sharing says how GPUs are divided among pods.
type Sharing string

// Ways of sharing.
const (
	SharingNone           Sharing = "none"
	SharingTimeSlicing    Sharing = "time-slicing"
	SharingMPS            Sharing = "mps"
	SharingMIG            Sharing = "mig"
	SharingMIGTimeSlicing Sharing = "mig+time-slicing"
	SharingVGPU           Sharing = "vgpu"
	SharingPartition      Sharing = "partition"
	SharingOther          Sharing = "other"
)

// WorkloadMode says what kind of workload a node's GPUs are prepared for.
type WorkloadMode string

// Workload modes, as the NVIDIA GPU Operator names them.
const (
	WorkloadModeContainer     WorkloadMode = "container"
	WorkloadModeVMPassthrough WorkloadMode = "vm-passthrough"
	WorkloadModeVMVGPU        WorkloadMode = "vm-vgpu"
)

// Event reasons, on the GpuInventory, after the write that they report.
const (
	EventGpuNodeAdded      = "GpuNodeAdded"
	EventGpuNodeRemoved    = "GpuNodeRemoved"
	EventGpuNodeReady      = "GpuNodeReady"
	EventGpuNodeNotReady   = "GpuNodeNotReady"
	EventGpuCountDropped   = "GpuCountDropped"
	EventGpuCountIncreased = "GpuCountIncreased"
	EventGpuFactsLost      = "GpuFactsLost"
	EventGpuFactsRestored  = "GpuFactsRestored"
	EventGpusUnhealthy     = "GpusUnhealthy"
	EventGpusHealthy       = "GpusHealthy"
	EventExpectationMissed = "ExpectationMissed"
	EventExpectationMet    = "ExpectationMet"
)
