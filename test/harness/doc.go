// Package harness starts the real pieces that the tests and the demo need: a kube-apiserver with etcd, the chart, the
// manager as a process of its own, and a proxy in front of the API server that records requests and injects faults.
//
// Everything listens on loopback, and everything that is started has a Stop.
package harness
