package dra

import (
	"strconv"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/quantity"
)

// Names of attributes. A driver publishes its own under a bare name; other publishers qualify it with the driver's domain.
var (
	attrPCI       = []string{"resource.kubernetes.io/pciBusID", "pciBusID", "pciAddr", "pciAddress"}
	attrParentPCI = []string{"parentPciAddr", "parentPciBusID", "parentPCIBusID"}
	attrProduct   = []string{"productName", "model"}
	attrProfile   = []string{"profile", "partitionProfile"}
	attrHealth    = []string{"healthy", "health"}
	capacityBytes = []string{"memory", "addressableMemory"}
)

// readDevice returns what an inventory needs of a device.
func readDevice(driver string, d *resourcev1.Device) Device {
	text := func(names ...string) string { return attribute(driver, d, names) }
	out := Device{
		Name:       d.Name,
		Type:       text("type"),
		UUID:       text("uuid"),
		ParentUUID: text("parentUUID"),
		PCIBusID:   text(attrPCI...),
		ParentPCI:  text(attrParentPCI...),
		Product:    text(attrProduct...),
		Profile:    text(attrProfile...),
		Healthy:    health(text(attrHealth...)),
		Shared:     d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations,
	}
	for _, name := range capacityBytes {
		for _, key := range []string{name, driver + "/" + name} {
			if c, ok := d.Capacity[resourcev1.QualifiedName(key)]; ok && out.MemoryMiB == nil {
				out.MemoryMiB = quantity.MiB(c.Value)
			}
		}
	}
	for _, t := range d.Taints {
		out.Taints = append(out.Taints, DeviceTaint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
	}
	return out
}

// attribute returns the first of some attributes that a device has, as text.
func attribute(driver string, d *resourcev1.Device, names []string) string {
	for _, name := range names {
		for _, key := range []string{name, driver + "/" + name} {
			if a, ok := d.Attributes[resourcev1.QualifiedName(key)]; ok {
				if s := attributeText(a); s != "" {
					return s
				}
			}
		}
	}
	return ""
}

func attributeText(a resourcev1.DeviceAttribute) string {
	switch {
	case a.StringValue != nil:
		return *a.StringValue
	case a.VersionValue != nil:
		return *a.VersionValue
	case a.BoolValue != nil:
		return strconv.FormatBool(*a.BoolValue)
	case a.IntValue != nil:
		return strconv.FormatInt(*a.IntValue, 10)
	}
	return ""
}

// health returns what a driver says of a device's health. Nil: nothing, or an unknown word.
func health(s string) *bool {
	switch s {
	case "true", "Healthy", "healthy", "OK":
		return new(true)
	case "false", "Unhealthy", "unhealthy":
		return new(false)
	}
	return nil
}
