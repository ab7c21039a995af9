package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventory"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/leader"
)

// gracePeriod bounds how long a stop waits for the writes in flight.
const gracePeriod = leader.WriteTimeout + time.Second

// serve runs the operator until ctx ends. An API server that cannot be reached, a CRD that is missing and a permission
// that is refused are waited for, not returned.
func serve(ctx context.Context, o *options, log logr.Logger) error {
	cfg, err := restConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	if o.installCRDs {
		if err := installCRD(ctx, cfg, log); err != nil {
			return err
		}
	}
	op := &operator{options: o, log: log, board: &inventory.Board{}, elector: leader.Always(log)}
	if o.leaderElect {
		if op.elector, err = leader.New(cfg, o.namespace, o.leaderElectionID, log.WithName("leader")); err != nil {
			return err
		}
	}
	op.elector.OnLost(op.board.Clear)
	mgr, err := op.newManager(cfg)
	if err != nil {
		return fmt.Errorf("create manager: %w", err)
	}
	if err := errors.Join(op.addReconcilers(mgr), op.addInventoryFile(mgr), op.addMetrics(mgr), op.addProbes(mgr)); err != nil {
		return err
	}
	return runUntilStopped(ctx, mgr, op.elector)
}

// runUntilStopped ends the election only after the manager has stopped, so that the Lease is released after the last
// write.
func runUntilStopped(ctx context.Context, mgr ctrl.Manager, elector *leader.Elector) error {
	electionCtx, endElection := context.WithCancel(context.WithoutCancel(ctx))
	elected := make(chan error, 1)
	go func() { elected <- elector.Run(electionCtx) }()
	err := mgr.Start(ctx)
	endElection()
	if electionErr := <-elected; err == nil {
		err = electionErr
	}
	return err
}

// restConfig finds the API server: the given kubeconfig, else the pod's service account, else ~/.kube/config.
func restConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		cfg, err := ctrlconfig.GetConfig()
		if err != nil {
			return nil, fmt.Errorf("find a cluster: no --kubeconfig, not in a pod, and %w", err)
		}
		return cfg, nil
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig %s: %w", kubeconfig, err)
	}
	cfg.QPS = -1 // as in a pod: the API server's own priority and fairness is the judge
	return cfg, nil
}
