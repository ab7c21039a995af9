package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/gpu"
	inv "github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/test/scale/fleet"
)

// floorObject is the GpuInventory whose status the floor writes.
const floorObject = "floor"

// measureFloor measures the floor, the program that does the least.
func (b *bench) measureFloor(ctx context.Context) error {
	status, err := b.equallyBigStatus()
	if err != nil {
		return err
	}
	file := filepath.Join(b.dir, "status.json")
	if err := os.WriteFile(file, status, 0o600); err != nil {
		return err
	}
	if err := b.freshInventory(ctx, floorObject); err != nil {
		return err
	}
	p, err := start(b.floor, nil, "-kubeconfig="+b.kubeconfig, "-path="+statusPath(floorObject), "-status="+file)
	if err != nil {
		return err
	}
	defer p.stop()
	nodes, err1 := p.waitFor(ctx, "nodes")
	pods, err2 := p.waitFor(ctx, "pods")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	b.report.floorSynced[0], b.report.floorSynced[1] = nodes.Sub(p.started), pods.Sub(p.started)
	f := &b.report.floor
	if f.rss, err = b.memoryAtRest(ctx, p); err != nil {
		return err
	}
	if f.cpu, _, err = b.millicores(ctx, p); err != nil {
		return err
	}
	if f.latencies, _, err = b.latency(ctx, floorObject); err != nil {
		return err
	}
	p.stop()
	return b.client.Delete(ctx, &v1.GpuInventory{ObjectMeta: metav1.ObjectMeta{Name: floorObject}})
}

// equallyBigStatus returns the status that the operator will write for these Nodes, without the number that the floor fills in.
func (b *bench) equallyBigStatus() ([]byte, error) {
	rows := make([]v1.GpuNode, 0, b.nodes)
	held := map[string]map[string]int64{}
	for i := range b.pods {
		if n := fleet.PodGPUs(i); n > 0 {
			node := fleet.Pod(i, b.nodes).Spec.NodeName
			if held[node] == nil {
				held[node] = map[string]int64{}
			}
			held[node][fleet.GPUResource] += n
		}
	}
	for i := range b.nodes {
		reading, ok := gpu.Read(gpu.FactsOf(fleet.Node(i), gpu.Options{}, nil), nil, gpu.Options{})
		if !ok {
			return nil, fmt.Errorf("node %d shows no GPUs", i)
		}
		rows = append(rows, reading.Row)
	}
	status, err := inv.Fit(inv.Snapshot(inv.WithAllocated(rows, held, inv.HoldersRead{Pods: true, Claims: true})), inv.MaxBytes)
	if err != nil {
		return nil, err
	}
	status.ReadyGpuNodes = nil
	for i := range status.Conditions {
		status.Conditions[i].LastTransitionTime = fleet.Node(0).Status.Conditions[0].LastTransitionTime
	}
	return json.Marshal(status)
}
