package gpu

import (
	"strings"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// Clouds, autoscalers and provisioners label a node from its machine type. That says what the machine should have, not what
// works: no driver and no plugin is needed, and nothing is taken back when a GPU dies.
//
//   - GKE's own device plugin renames nothing: MIG partitions and shared clients all appear as nvidia.com/gpu, and only the
//     gke-* labels tell. gke-accelerator-count is on TPU nodes as well, so it proves nothing alone.
//   - A count of 0 (Azure on every node, AWS on fractions of a GPU) and an empty value are no evidence.
//   - Memory is nominal, MiB of one GPU.

const (
	labelGKEAccelerator = "cloud.google.com/gke-accelerator"
	labelGKECount       = "cloud.google.com/gke-accelerator-count"
	labelGKESharing     = "cloud.google.com/gke-gpu-sharing-strategy"
	labelGKEClients     = "cloud.google.com/gke-max-shared-clients-per-gpu"
	labelGKEPartition   = "cloud.google.com/gke-gpu-partition-size"
	labelEKSAccelerator = "k8s.amazonaws.com/accelerator"
)

// cloudLabels is what labels about the machine type say of one vendor's GPUs.
type cloudLabels struct {
	vendor     v1.Vendor
	product    string
	productKey string
	count      *int64
	countKey   string
	memory     *int64
	memoryKey  string

	// Only GKE says these.
	sharing   v1.Sharing
	clients   *int64
	partition string
}

// speaksOf reports whether the facts are about a vendor's GPUs.
func (c *cloudLabels) speaksOf(vendor v1.Vendor) bool { return c.vendor == vendor }

// machineLabels are families of labels with name, maker, count and memory. Empty: the family has none.
var machineLabels = []machineFamily{
	{name: "karpenter.k8s.aws/instance-gpu-name", maker: "karpenter.k8s.aws/instance-gpu-manufacturer",
		count: "karpenter.k8s.aws/instance-gpu-count", memory: "karpenter.k8s.aws/instance-gpu-memory"},
	{name: "eks.amazonaws.com/instance-gpu-name", maker: "eks.amazonaws.com/instance-gpu-manufacturer",
		count: "eks.amazonaws.com/instance-gpu-count", memory: "eks.amazonaws.com/instance-gpu-memory"},
	{name: "karpenter.azure.com/sku-gpu-name", maker: "karpenter.azure.com/sku-gpu-manufacturer",
		count: "karpenter.azure.com/sku-gpu-count"},
	{name: "gpu.nvidia.com/model", count: "gpu.nvidia.com/count"},
	{name: "gpu.nvidia.com/class", count: "gpu.nvidia.com/count"},
}

// machineFamily is the keys of one provisioner.
type machineFamily struct{ name, maker, count, memory string }

// presenceLabels say that there is a GPU. Their value is a model in some clouds, and only "true" in others.
var presenceLabels = []string{
	labelEKSAccelerator, "kubernetes.azure.com/accelerator", "accelerator", "aliyun.accelerator/nvidia_name",
	"baidu/nvidia_name", "cloud.tencent.com/tke-accelerator", "k8s.scw.cloud/gpu", "cluster-api/accelerator",
	"magnum.openstack.org/gpu", "cloud.digitalocean.com/gpu-node", "civo.com/gpu-node", "node.kubernetes.ovhcloud.com/gpu",
}

func (r *reader) collectCloud() {
	r.collectGKE()
	for _, f := range machineLabels {
		r.collectMachine(f)
	}
	for _, key := range presenceLabels {
		r.collectPresence(key)
	}
}

func (r *reader) collectGKE() {
	c := &r.cloud
	if model := r.label(labelGKEAccelerator, "GKE names the accelerator of the machine type"); model != "" {
		c.vendor, c.product, c.productKey = makerOf(model), model, labelGKEAccelerator
		c.count, c.countKey = r.number(labelGKECount, 1, maxGPUs, "GKE counts the accelerators of the machine type"), labelGKECount
		r.mark(c.vendor, intended)
	}
	c.clients = r.number(labelGKEClients, 1, maxReplicas, "clients that share one GPU")
	switch r.choice(labelGKESharing, "how GKE shares GPUs", "time-sharing", "mps") {
	case "time-sharing":
		c.sharing = v1.SharingTimeSlicing
	case "mps":
		c.sharing = v1.SharingMPS
	default:
		if c.clients != nil && *c.clients > 1 {
			c.sharing = v1.SharingTimeSlicing // what GKE does unless told otherwise
		}
	}
	if size := r.label(labelGKEPartition, "GKE cuts GPUs into MIG instances of this profile"); isProfile(size) {
		c.partition = size
	} else if size != "" {
		r.invalid(labelGKEPartition, size)
	}
}

// collectMachine reads one family of labels. The first family that says something about a field wins.
func (r *reader) collectMachine(f machineFamily) {
	const says = "the machine type, as the provisioner knows it"
	if v := r.facts.labels.Get(f.count); r.facts.labels.Get(f.name) == "" && (v == "" || v == "0") {
		return // every node of some clouds has these keys, with nothing in them
	}
	model, by := r.label(f.name, says), strings.ToLower(r.label(f.maker, says))
	count, memory := r.number(f.count, 0, maxGPUs, says), r.number(f.memory, 1, maxMiB, says)
	if model == "" && count == nil || by == "aws" {
		return
	}
	vendor := makerOf(by)
	if f.maker == "" {
		vendor = v1.VendorNVIDIA
	}
	if r.cloud.vendor != "" && r.cloud.vendor != vendor {
		r.warn(v1.WarningLabelConflict)
		return
	}
	r.mark(vendor, intended)
	r.cloud.vendor = vendor
	r.cloud.fill(f, model, count, memory)
}

// fill takes what a family says where nothing is known yet.
func (c *cloudLabels) fill(f machineFamily, model string, count, memory *int64) {
	if c.product == "" && model != "" {
		c.product, c.productKey = model, f.name
	}
	if c.count == nil && count != nil && *count > 0 {
		c.count, c.countKey = count, f.count
	}
	if c.memory == nil && memory != nil {
		c.memory, c.memoryKey = memory, f.memory
	}
}

// collectPresence reads a label that says no more than that there is a GPU.
func (r *reader) collectPresence(key string) {
	v := r.facts.labels.Get(key)
	if v == "" || v == "false" {
		return
	}
	vendor := makerOf(v)
	if strings.Contains(key, "nvidia") || v == "vgpu" {
		vendor = v1.VendorNVIDIA
	}
	// Two of the keys are in use for all kinds of accelerators: without the name of a maker they say nothing.
	if vendor == v1.VendorUnknown && (key == "accelerator" || key == labelEKSAccelerator) {
		return
	}
	r.see(KindLabel, key, v, "the machine type has a GPU")
	r.mark(vendor, intended)
	if r.cloud.vendor == "" {
		r.cloud.vendor = vendor
	}
}

// makerOf reads the maker from the start of a model or from a maker's name.
func makerOf(s string) v1.Vendor {
	s = strings.ToLower(s)
	switch {
	case strings.HasPrefix(s, "nvidia"), strings.HasPrefix(s, "tesla"):
		return v1.VendorNVIDIA
	case strings.HasPrefix(s, "amd"), strings.HasPrefix(s, "radeon"):
		return v1.VendorAMD
	case strings.HasPrefix(s, "habana"), strings.HasPrefix(s, "gaudi"):
		return v1.VendorHabana
	case strings.HasPrefix(s, "intel"):
		return v1.VendorIntel
	}
	return v1.VendorUnknown
}
