package gpu

import "testing"

// BenchmarkRead reads a Node with labels and a resource, as most GPU nodes are.
func BenchmarkRead(b *testing.B) {
	in := Input{Node: node(h100s, labels("gpu.present=true", "gpu.deploy.device-plugin=true", "feature.node.kubernetes.io/pci-10de.present=true"))}
	b.ReportAllocs()
	for b.Loop() {
		Read(in, Options{})
	}
}

// BenchmarkChanged compares two versions of a Node that differ in a heartbeat.
func BenchmarkChanged(b *testing.B) {
	before := node(h100s)
	after := before.DeepCopy()
	after.Status.Conditions[0].LastHeartbeatTime = transition
	b.ReportAllocs()
	for b.Loop() {
		Changed(before, after, Options{})
	}
}
