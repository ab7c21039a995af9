package metrics

// Label names. node, resource and namespace are spelled as in kube-state-metrics, so that queries can join.
const (
	labelCondition    = "condition"
	labelController   = "controller"
	labelGoVersion    = "goversion"
	labelInventory    = "inventory"
	labelNamespace    = "namespace"
	labelNode         = "node"
	labelOutput       = "output"
	labelPool         = "pool"
	labelProduct      = "product"
	labelReason       = "reason"
	labelResource     = "resource"
	labelResult       = "result"
	labelRevision     = "revision"
	labelSharing      = "sharing"
	labelStatus       = "status"
	labelVariant      = "variant"
	labelVendor       = "vendor"
	labelVersion      = "version"
	labelWarning      = "warning"
	labelWorkloadMode = "workload_mode"
)

// Metric names of the inventories.
const (
	nameNodes               = "gpu_inventory_nodes"
	nameReadyNodes          = "gpu_inventory_ready_nodes"
	nameUnknownNodes        = "gpu_inventory_unknown_nodes"
	nameNotReadyNodes       = "gpu_inventory_not_ready_nodes"
	nameNotReadyCordoned    = "gpu_inventory_not_ready_cordoned_nodes"
	nameWarnings            = "gpu_inventory_warnings"
	nameGpus                = "gpu_inventory_gpus"
	nameReadyGpus           = "gpu_inventory_ready_gpus"
	nameFreeGpus            = "gpu_inventory_free_gpus"
	nameLargestFreeGpus     = "gpu_inventory_largest_free_gpus"
	nameResourceCapacity    = "gpu_inventory_resource_capacity"
	nameResourceAllocatable = "gpu_inventory_resource_allocatable"
	nameResourceAllocated   = "gpu_inventory_resource_allocated"
	nameResourceFree        = "gpu_inventory_resource_free"
	nameExpectedGpus        = "gpu_inventory_expected_gpus"
	nameMissingGpus         = "gpu_inventory_missing_gpus"
	nameCondition           = "gpu_inventory_condition"
)

// Metric names of the nodes.
const (
	nameNodeInfo                = "gpu_inventory_node_info"
	nameNodeReady               = "gpu_inventory_node_ready"
	nameNodeNotReadyReason      = "gpu_inventory_node_not_ready_reason"
	nameNodeWarning             = "gpu_inventory_node_warning"
	nameNodeGpus                = "gpu_inventory_node_gpus"
	nameNodeGpuMemory           = "gpu_inventory_node_gpu_memory_bytes"
	nameNodeResourceCapacity    = "gpu_inventory_node_resource_capacity"
	nameNodeResourceAllocatable = "gpu_inventory_node_resource_allocatable"
	nameNodeResourceAllocated   = "gpu_inventory_node_resource_allocated"
)

// nameNamespaceAllocated is the metric of the namespaces.
const nameNamespaceAllocated = "gpu_inventory_namespace_allocated"

// Metric names of the process.
const (
	nameReconcileTotal    = "gpu_inventory_reconcile_total"
	nameStatusWritesTotal = "gpu_inventory_status_writes_total"
	nameLastSuccess       = "gpu_inventory_last_success_timestamp_seconds"
	nameStatusBytes       = "gpu_inventory_status_bytes"
	nameBuildInfo         = "gpu_inventory_build_info"
	nameLeader            = "gpu_inventory_leader"
)

// Label values with a special meaning.
const (
	// valueUnknown means that no source says it.
	valueUnknown = "unknown"
	// valueOther is all products beyond maxProducts.
	valueOther = "other"
)

// maxProducts is how many products of an inventory have series of their own. A fleet has a handful. Labels that anybody may
// write must not be able to flood the time series database.
const maxProducts = 500
