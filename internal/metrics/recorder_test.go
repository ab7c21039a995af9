package metrics

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func newTestRecorder(t *testing.T, leader func() bool) (*Recorder, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	r, err := NewRecorder(reg, BuildInfo{Version: "v1.2.3", Revision: "abc"}, leader)
	if err != nil {
		t.Fatal(err)
	}
	return r, reg
}

func TestRecorderCountsWhatItIsTold(t *testing.T) {
	const want = `
# HELP gpu_inventory_last_success_timestamp_seconds When an output was last known to be up to date, in seconds since the epoch.
# TYPE gpu_inventory_last_success_timestamp_seconds gauge
gpu_inventory_last_success_timestamp_seconds 1.8e+09
# HELP gpu_inventory_reconcile_total Reconciles, by their result.
# TYPE gpu_inventory_reconcile_total counter
gpu_inventory_reconcile_total{controller="configmap",result="conflict"} 0
gpu_inventory_reconcile_total{controller="configmap",result="error"} 1
gpu_inventory_reconcile_total{controller="configmap",result="success"} 0
gpu_inventory_reconcile_total{controller="configmap",result="unchanged"} 0
gpu_inventory_reconcile_total{controller="gpuinventory",result="conflict"} 0
gpu_inventory_reconcile_total{controller="gpuinventory",result="error"} 0
gpu_inventory_reconcile_total{controller="gpuinventory",result="success"} 1
gpu_inventory_reconcile_total{controller="gpuinventory",result="unchanged"} 2
# HELP gpu_inventory_status_bytes Size of an output at its last write.
# TYPE gpu_inventory_status_bytes gauge
gpu_inventory_status_bytes{output="status"} 2048
# HELP gpu_inventory_status_writes_total Writes of an output to the API server, by their result.
# TYPE gpu_inventory_status_writes_total counter
gpu_inventory_status_writes_total{output="configmap",result="conflict"} 0
gpu_inventory_status_writes_total{output="configmap",result="error"} 1
gpu_inventory_status_writes_total{output="configmap",result="success"} 0
gpu_inventory_status_writes_total{output="status",result="conflict"} 1
gpu_inventory_status_writes_total{output="status",result="error"} 0
gpu_inventory_status_writes_total{output="status",result="success"} 1
`
	r, reg := newTestRecorder(t, func() bool { return true })
	r.Wrote(OutputStatus, nil)
	r.Wrote(OutputStatus, apierrors.NewConflict(schema.GroupResource{}, "cluster", nil))
	r.Wrote(OutputConfigMap, errors.New("refused"))
	r.Reconciled(ControllerGpuInventory, ResultSuccess)
	r.Reconciled(ControllerGpuInventory, ResultUnchanged)
	r.Reconciled(ControllerGpuInventory, ResultUnchanged)
	r.Reconciled(ControllerConfigMap, ResultError)
	r.Size(OutputStatus, 4096)
	r.Size(OutputStatus, 2048)
	r.Succeeded(time.Unix(1_700_000_000, 0))
	r.Succeeded(time.Unix(1_800_000_000, 0))
	err := testutil.GatherAndCompare(reg, strings.NewReader(want),
		nameReconcileTotal, nameStatusWritesTotal, nameLastSuccess, nameStatusBytes)
	if err != nil {
		t.Error(err)
	}
}

func TestWhatHasNotHappenedYetHasNoTimeAndNoSize(t *testing.T) {
	_, reg := newTestRecorder(t, func() bool { return true })
	n, err := testutil.GatherAndCount(reg, nameLastSuccess, nameStatusBytes)
	if err != nil {
		t.Fatal(err)
	}
	if n != 0 {
		t.Errorf("%d series, want none before the first success and the first write", n)
	}
}

func TestLeaderFollowsTheFunction(t *testing.T) {
	leads := false
	_, reg := newTestRecorder(t, func() bool { return leads })
	for _, want := range []string{"0", "1", "0"} {
		leads = want == "1"
		text := "# HELP gpu_inventory_leader " + familyLeader.Help + "\n# TYPE gpu_inventory_leader gauge\ngpu_inventory_leader " + want + "\n"
		if err := testutil.GatherAndCompare(reg, strings.NewReader(text), nameLeader); err != nil {
			t.Error(err)
		}
	}
}

func TestBuildInfoSaysUnknownForWhatTheBuildDoesNotSay(t *testing.T) {
	cases := map[string]struct {
		build BuildInfo
		want  []string
	}{
		"all is known":     {BuildInfo{Version: "v1.2.3", Revision: "abc"}, []string{`version="v1.2.3"`, `revision="abc"`, `goversion="go`}},
		"nothing is known": {BuildInfo{}, []string{`version="unknown"`, `revision="unknown"`, `goversion="go`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reg := prometheus.NewPedanticRegistry()
			if _, err := NewRecorder(reg, tc.build, func() bool { return false }); err != nil {
				t.Fatal(err)
			}
			families, err := reg.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for got, value := range series(families...) {
				if !strings.HasPrefix(got, nameBuildInfo) {
					continue
				}
				for _, want := range tc.want {
					if !strings.Contains(got, want) || value != 1 {
						t.Errorf("%s = %v, want %s and 1", got, value, want)
					}
				}
			}
			if n, err := testutil.GatherAndCount(reg, nameBuildInfo); n != 1 || err != nil {
				t.Errorf("%d series of the build, error %v, want 1", n, err)
			}
		})
	}
}

func TestNilRecorderRecordsNothing(*testing.T) {
	var r *Recorder
	r.Wrote(OutputStatus, nil)
	r.Reconciled(ControllerGpuInventory, ResultSuccess)
	r.Size(OutputStatus, 1)
	r.Succeeded(time.Unix(0, 0))
}

func TestSecondRecorderOnARegistryIsRefused(t *testing.T) {
	_, reg := newTestRecorder(t, func() bool { return true })
	if _, err := NewRecorder(reg, BuildInfo{}, func() bool { return true }); err == nil {
		t.Error("NewRecorder() error = nil, want one: the metrics are registered already")
	}
}
