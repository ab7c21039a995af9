package memory

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// stored is a status that an earlier process wrote.
func stored(minute int, nodes ...v1.GpuNode) *v1.GpuInventoryStatus {
	at := metav1.NewTime(start.Add(time.Duration(minute) * time.Minute))
	return &v1.GpuInventoryStatus{ObservedAt: &at, Nodes: nodes}
}

func TestSeed(t *testing.T) {
	id := Node{Name: "a", UID: "1", Created: start}
	lost := func(n *v1.GpuNode, minute int) *v1.GpuNode {
		return with(n, noUnits, notReady(v1.ReasonDevicePluginNotRegistered), message(""), recalledAt(minute), warned(v1.WarningLabelsMissing))
	}
	cases := map[string]struct {
		seeds []*v1.GpuInventoryStatus
		want  *v1.GpuNode // while nothing speaks of GPUs; nil: no GPU node
	}{
		"no status":                           {seeds: []*v1.GpuInventoryStatus{nil, {}}},
		"live facts were seen when written":   {seeds: []*v1.GpuInventoryStatus{stored(5, *labelled(8))}, want: lost(labelled(8), 5)},
		"last-known facts keep their time":    {seeds: []*v1.GpuInventoryStatus{stored(5, *labelled(8, recalledAt(3)))}, want: lost(labelled(8), 3)},
		"the newer of two wins":               {seeds: []*v1.GpuInventoryStatus{stored(5, *labelled(8)), stored(6, *labelled(4))}, want: lost(labelled(4), 6)},
		"the newer of two wins, read first":   {seeds: []*v1.GpuInventoryStatus{stored(6, *labelled(4)), stored(5, *labelled(8))}, want: lost(labelled(4), 6)},
		"facts of an earlier Node are others": {seeds: []*v1.GpuInventoryStatus{stored(-5, *labelled(8))}},
		"a row without facts seeds nothing":   {seeds: []*v1.GpuInventoryStatus{stored(5, *wiped(0, unlabelled))}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var m Store
			for _, s := range tc.seeds {
				m.Seed(s)
			}
			got, ok := m.Recall(id, *bare(true, v1.ReasonOK, ""), false, start.Add(time.Hour))
			if ok != (tc.want != nil) {
				t.Fatalf("GPU node %v, want %v", ok, tc.want != nil)
			}
			if !ok {
				return
			}
			got.Message = "" // has its own test
			if diff := cmp.Diff(*tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSeedAddsToWhatWasReadOnlyWhatIsMissing(t *testing.T) {
	id := Node{Name: "a", UID: "1", Created: start}
	shared := []func(*v1.GpuNode){sharing(v1.SharingTimeSlicing, "SHARED"), units("nvidia.com/gpu", 32, 32)}
	cases := map[string]struct {
		read, seed, want *v1.GpuNode
	}{
		"what is told of another Node is not its": {
			read: wiped(4), seed: with(labelled(8), recalledAt(-9)), want: wiped(4),
		},
		"what was read whole is better": {read: labelled(7), seed: labelled(8), want: labelled(7)},
		"a process that starts while labels are gone": {
			read: wiped(32), seed: labelled(8, append(shared, recalledAt(3))...),
			want: labelled(8, append(shared, recalledAt(3), warned(v1.WarningLabelsMissing))...),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var m Store
			m.Recall(id, *tc.read, true, start.Add(10*time.Minute))
			m.Seed(stored(5, *tc.seed))
			got, _ := m.Recall(id, *tc.read, true, start.Add(11*time.Minute))
			if diff := cmp.Diff(*tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestACountInDisputeIsNotKeptForPartsOfGpus(t *testing.T) {
	parts := labelled(8, sharing(v1.SharingPartition, "cpx_nps1"), uncounted, units("nvidia.com/gpu", 64, 64))
	var m Store
	m.Seed(stored(0, *labelled(64, warned(v1.WarningCountMismatch)))) // units came before the labels that tell what they are
	got, _ := m.Recall(Node{Name: "a", UID: "1"}, *parts, true, start)
	if diff := cmp.Diff(*parts, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMissingGpusSurviveARestartAndALongMessage(t *testing.T) {
	id := Node{Name: "a", UID: "1"}
	long := strings.Repeat("ü", 600)
	var m Store
	m.Recall(id, *labelled(8), true, start)
	before, _ := m.Recall(id, *labelled(7, notReady(v1.ReasonNodeNotReady), message(long)), true, start)
	if len(before.Message) > v1.MaxMessageBytes || !strings.HasSuffix(before.Message, found7of8) {
		t.Errorf("message of %d bytes: %s", len(before.Message), before.Message)
	}
	var next Store
	next.Seed(stored(0, before))
	after, _ := next.Recall(id, *labelled(7, notReady(v1.ReasonNodeNotReady), message(long)), true, start)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestMemoryMayBeUsedAtOnce(t *testing.T) {
	var m Store
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 200 {
				name := fmt.Sprintf("node-%d", i%20)
				n := row(name, 8)
				m.Recall(Node{Name: name, UID: "1"}, n, (worker+i)%3 > 0, start)
				m.Seed(stored(0, n))
				if i%50 == 0 {
					m.Forget(name)
				}
			}
		})
	}
	wg.Wait()
}
