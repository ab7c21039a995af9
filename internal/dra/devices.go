package dra

import (
	"iter"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// Devices are the DRA devices that concern one Node, by pool.
type Devices struct {
	// Pools are the pools that publish, or should publish, devices of the Node, sorted by driver and name.
	Pools []Pool
}

// ByDriver yields the pools of each driver, by the driver's name.
func (d *Devices) ByDriver() iter.Seq2[string, []Pool] {
	return func(yield func(string, []Pool) bool) {
		if d == nil {
			return
		}
		for rest := d.Pools; len(rest) > 0; {
			driver := rest[0].Driver
			n := slices.IndexFunc(rest, func(p Pool) bool { return p.Driver != driver })
			if n < 0 {
				n = len(rest)
			}
			if !yield(driver, rest[:n:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// Pool is what one DRA driver's pool publishes for one Node.
type Pool struct {
	// Driver is the DRA driver's name, such as gpu.nvidia.com.
	Driver string
	// Name is the pool's name, in most cases that of the Node.
	Name string
	// Generation is the highest generation seen, the only one that counts.
	Generation int64
	// Slices is how many slices of that generation exist in the cluster. WantSlices is how many there should be.
	Slices, WantSlices int64
	// Duplicate is a device name that the pool publishes twice, which makes the pool invalid. Empty: none.
	Duplicate string
	// Devices are the Node's own devices, sorted by name. While the pool is not Complete they are only a part.
	Devices []Device
}

// Complete reports whether the pool's devices are all there and can be counted.
func (p Pool) Complete() bool { return p.Slices == p.WantSlices && p.Duplicate == "" }

// Device is one device of a pool, with the attributes that an inventory needs. Drivers publish them under different names.
// Empty and nil mean not published.
type Device struct {
	// Name identifies the device in its pool.
	Name string
	// Type is the driver's word for the kind of device, such as gpu, mig, vfio or amdgpu-partition.
	Type string
	// UUID identifies the device; ParentUUID the GPU that it is a part of.
	UUID, ParentUUID string
	// PCIBusID is the device's PCI address; ParentPCI that of the GPU that it is a part of.
	PCIBusID, ParentPCI string
	// Product is the model, as the driver spells it.
	Product string
	// Profile is the MIG profile or partition style.
	Profile string
	// MemoryMiB is the device's memory.
	MemoryMiB *int64
	// Healthy is what the driver says of the device's health.
	Healthy *bool
	// Shared is true when several claims can hold the device at once.
	Shared bool
	// Taints are the taints in the slice.
	Taints []DeviceTaint
}

// DeviceTaint is a taint of a device. Effect is None, NoSchedule or NoExecute.
type DeviceTaint struct{ Key, Value, Effect string }

// blocks reports whether the taint keeps new claims away.
func (t DeviceTaint) blocks() bool {
	return t.Effect == string(resourcev1.DeviceTaintEffectNoSchedule) || t.Effect == string(resourcev1.DeviceTaintEffectNoExecute)
}

// Blocked reports whether no new claim can get the device.
func (d Device) Blocked() bool {
	return d.Healthy != nil && !*d.Healthy || slices.ContainsFunc(d.Taints, DeviceTaint.blocks)
}

// DeviceID identifies a device in a cluster.
type DeviceID struct{ Driver, Pool, Device string }
