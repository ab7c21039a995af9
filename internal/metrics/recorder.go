package metrics

import (
	"cmp"
	"fmt"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Outputs of the operator, for Wrote and Size.
const (
	// OutputStatus is the status of a GpuInventory.
	OutputStatus = "status"
	// OutputConfigMap is the ConfigMap with the inventory of all Nodes.
	OutputConfigMap = "configmap"
)

// Controllers of the operator, for Reconciled.
const (
	// ControllerGpuInventory keeps OutputStatus.
	ControllerGpuInventory = "gpuinventory"
	// ControllerConfigMap keeps OutputConfigMap.
	ControllerConfigMap = "configmap"
)

// Results of a write or a reconcile.
const (
	// ResultSuccess means that it was done.
	ResultSuccess = "success"
	// ResultUnchanged means that there was nothing to do. Only reconciles have it.
	ResultUnchanged = "unchanged"
	// ResultConflict means that the API server refused a write because the object had changed since it was read. This is
	// normal, and tried again soon.
	ResultConflict = "conflict"
	// ResultError means that it failed.
	ResultError = "error"
)

// BuildInfo is what the operator was built from. An empty field is exposed as "unknown".
type BuildInfo struct {
	// Version is the release, such as v1.2.3.
	Version string
	// Revision is the commit.
	Revision string
}

// Recorder counts what the reconcilers do. It is safe for concurrent use; a nil Recorder records nothing.
type Recorder struct {
	reconciles  *prometheus.CounterVec
	writes      *prometheus.CounterVec
	lastSuccess *prometheus.GaugeVec
	bytes       *prometheus.GaugeVec
}

// NewRecorder returns a Recorder whose metrics, with those of the build and of leadership, are registered on reg. leader
// reports whether this replica leads now, and is called at each scrape. An error means that reg refused a metric.
func NewRecorder(reg prometheus.Registerer, build BuildInfo, leader func() bool) (*Recorder, error) {
	r := &Recorder{
		reconciles:  newCounterVec(familyReconcileTotal),
		writes:      newCounterVec(familyStatusWritesTotal),
		lastSuccess: newGaugeVec(familyLastSuccess),
		bytes:       newGaugeVec(familyStatusBytes),
	}
	info := newGaugeVec(familyBuildInfo)
	info.WithLabelValues(runtime.Version(), cmp.Or(build.Revision, valueUnknown), cmp.Or(build.Version, valueUnknown)).Set(1)
	leading := prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: familyLeader.Name, Help: familyLeader.Help},
		func() float64 { return boolean(leader()) })

	// If a counter were absent until its first event, rate() would not show that event.
	for _, controller := range []string{ControllerGpuInventory, ControllerConfigMap} {
		for _, result := range []string{ResultSuccess, ResultUnchanged, ResultConflict, ResultError} {
			r.reconciles.WithLabelValues(controller, result)
		}
	}
	for _, output := range []string{OutputStatus, OutputConfigMap} {
		for _, result := range []string{ResultSuccess, ResultConflict, ResultError} {
			r.writes.WithLabelValues(output, result)
		}
	}
	for _, c := range []prometheus.Collector{r.reconciles, r.writes, r.lastSuccess, r.bytes, info, leading} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return r, nil
}

// Wrote counts a write of an output to the API server; err is what the write returned.
func (r *Recorder) Wrote(output string, err error) {
	if r == nil {
		return
	}
	result := ResultSuccess
	switch {
	case apierrors.IsConflict(err):
		result = ResultConflict
	case err != nil:
		result = ResultError
	}
	r.writes.WithLabelValues(output, result).Inc()
}

// Reconciled counts a reconcile of a controller. result is one of ResultSuccess, ResultUnchanged, ResultConflict and
// ResultError.
func (r *Recorder) Reconciled(controller, result string) {
	if r == nil {
		return
	}
	r.reconciles.WithLabelValues(controller, result).Inc()
}

// Size records how many bytes an output has.
func (r *Recorder) Size(output string, bytes int) {
	if r == nil {
		return
	}
	r.bytes.WithLabelValues(output).Set(float64(bytes))
}

// Succeeded records that an output is up to date at now, written or found equal.
func (r *Recorder) Succeeded(now time.Time) {
	if r == nil {
		return
	}
	r.lastSuccess.WithLabelValues().Set(float64(now.UnixNano()) / float64(time.Second))
}

func newCounterVec(f Family) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: f.Name, Help: f.Help}, f.Labels)
}

func newGaugeVec(f Family) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: f.Name, Help: f.Help}, f.Labels)
}
