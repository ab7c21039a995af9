// Package e2e runs the operator, installed with its chart, on a real cluster: pods that start, probes, Services, a
// scheduler, a kubelet with a device plugin, Prometheus. It is one story of specs in order, told as a client of the cluster from
// outside. It makes and removes all that it needs, the CustomResourceDefinition too, so it refuses a cluster that has one.
//
// Run it with make test-e2e:
//
//	sudo make test-e2e                                 # with a cluster script beside the repository
//	GPUINV_CLUSTER=hack/e2e-kind.sh make test-e2e      # with Docker and kind
//	KUBECONFIG=… E2E_PLATFORM=… make test-e2e          # on a cluster of yours
//	make test-e2e E2E='--ginkgo.fail-fast'             # with flags of Ginkgo
//
// What cannot be done from outside, such as to stop a kubelet, the platform script does that E2E_PLATFORM names. Its verbs,
// and the variables that the suite reads, are listed by hack/e2e.sh --help. The output stays in bin/e2e.log. A failed spec
// is followed there by what helps to understand it: Nodes, GpuInventories, pods, logs, Events.
//
// With built programs a run takes about five minutes; two of them wait for Kubernetes, which calls a silent node NotReady after
// 40 seconds, and brings a changed Secret to its volume within two minutes.
package e2e
