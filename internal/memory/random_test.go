package memory

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
)

// TestRecallHoldsForReadingsThatNobodyThoughtOf goes through sequences of random readings of one Node.
func TestRecallHoldsForReadingsThatNobodyThoughtOf(t *testing.T) {
	id := Node{Name: "a", UID: "1"}
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var m Store
		now := start
		var known bool
		for step := range 8 {
			reading, isGPU := randomReading(rng), rng.IntN(6) > 0
			if !isGPU {
				reading = *bare(rng.IntN(2) == 0, v1.ReasonOK, "")
			}
			now = now.Add(time.Minute)
			got, ok := m.Recall(id, reading, isGPU, now)
			again, _ := m.Recall(id, reading, isGPU, now.Add(time.Hour))
			if diff := cmp.Diff(got, again); diff != "" {
				t.Fatalf("seed %d, step %d: the same reading again (-first +second):\n%s", seed, step, diff)
			}
			if known && !ok {
				t.Fatalf("seed %d, step %d: no GPU node any more", seed, step)
			}
			known = known || isGPU && slices.ContainsFunc(reading.Gpus, saysMore)
			for _, fault := range faultsOf(got, ok) {
				t.Fatalf("seed %d, step %d: %s: %s", seed, step, fault, dump(got))
			}
		}
	}
}

func faultsOf(n v1.GpuNode, isGPU bool) (faults []string) {
	if !isGPU {
		return nil
	}
	last := slices.ContainsFunc(n.Gpus, func(g v1.GpuGroup) bool { return g.Source == v1.SourceLastKnown })
	if last != (n.LastSeen != nil) {
		faults = append(faults, "lastSeen without last-known facts, or the other way round")
	}
	if len(n.Gpus) == 0 || !cmp.Equal(n.GpuCount, inventory.TotalCount(n.Gpus)) {
		faults = append(faults, "the count is not the sum of the groups")
	}
	if n.GpuCount != nil && *n.GpuCount < 1 {
		faults = append(faults, "a count that nobody stated")
	}
	if !slices.IsSorted(n.Warnings) || len(slices.Compact(slices.Clone(n.Warnings))) != len(n.Warnings) {
		faults = append(faults, "warnings are not a sorted set")
	}
	if n.Ready != (n.Reason == v1.ReasonOK) {
		faults = append(faults, "ready and its reason disagree")
	}
	return faults
}

func randomReading(rng *rand.Rand) v1.GpuNode {
	count := func() *int32 {
		if rng.IntN(3) == 0 {
			return nil
		}
		return new(1 + rng.Int32N(4))
	}
	n := v1.GpuNode{Name: "a", Ready: true, Reason: v1.ReasonOK, WorkloadMode: v1.WorkloadModeContainer}
	vendors := []v1.Vendor{v1.VendorNVIDIA, v1.VendorNVIDIA, v1.VendorNVIDIA, v1.VendorAMD}
	sources := []v1.Source{v1.SourceLabels, v1.SourceResources, v1.SourceSlices, v1.SourceCloud}
	seen, last := map[v1.Vendor]bool{}, ""
	for range 1 + rng.IntN(2) {
		g := v1.GpuGroup{
			Vendor: vendors[rng.IntN(4)], Product: []string{"", "A", "B"}[rng.IntN(3)], Variant: []string{"", "", "SHARED"}[rng.IntN(3)],
			Count: count(), Source: sources[rng.IntN(4)],
		}
		// The engine names all products of a vendor, or none.
		if !seen[g.Vendor] || g.Product > last {
			seen[g.Vendor] = true
			n.Gpus, last = append(n.Gpus, g), orElse(g.Product, "Z")
		}
	}
	n.GpuCount = inventory.TotalCount(n.Gpus)
	n.Sharing = []v1.Sharing{v1.SharingNone, v1.SharingNone, v1.SharingTimeSlicing, ""}[rng.IntN(4)]
	for _, name := range []string{"nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu"} {
		if rng.IntN(2) == 0 {
			units(name, 1+rng.Int64N(4), 1)(&n)
		}
	}
	if rng.IntN(4) == 0 {
		n.Warnings = []v1.Warning{v1.WarningCountMismatch}
	}
	if rng.IntN(4) == 0 {
		n.Warnings = append(n.Warnings, v1.WarningMixedProducts)
	}
	return n
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
