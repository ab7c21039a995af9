package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/inventoryfile"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/operator"
)

// options are the manager's flags.
type options struct {
	kubeconfig    string
	namespace     string // of the ConfigMap and of the Lease
	leaderElect   bool
	leaseName     string
	inventoryFile string
	logging       loggingOptions
	version       bool

	// operator is what the flags ask for. validate completes it.
	operator operator.Options
}

type loggingOptions struct {
	level  slog.Level
	format string
}

func (o *options) register(fs *flag.FlagSet) {
	fs.StringVar(&o.kubeconfig, "kubeconfig", "",
		"path of a kubeconfig file for runs outside a cluster; empty: what the env KUBECONFIG names, else the service account of the pod, else ~/.kube/config")
	fs.StringVar(&o.namespace, "namespace", os.Getenv("POD_NAMESPACE"),
		"namespace of the ConfigMap and of the Lease (env POD_NAMESPACE)")
	fs.StringVar(&o.operator.ConfigMap.Name, "configmap-name", "gpu-node-status",
		"name of the ConfigMap that holds the inventory as text and JSON")
	fs.BoolVar(&o.leaderElect, "leader-elect", true,
		"write only while holding a Lease; false for a single replica")
	fs.StringVar(&o.leaseName, "leader-election-id", "gpu-inventory-operator",
		"name of the Lease")
	fs.StringVar(&o.operator.Metrics.Address, "metrics-bind-address", ":8443",
		"address of the /metrics endpoint; 0 serves none")
	fs.BoolVar(&o.operator.Metrics.Secure, "metrics-secure", true,
		"serve metrics over TLS, to those whom the API server lets get /metrics; false: in plain text to everybody")
	fs.StringVar(&o.operator.Metrics.CertDir, "metrics-cert-dir", "",
		"directory with tls.crt and tls.key for the metrics, read again when they change; empty: a self-signed certificate made at start")
	fs.StringVar(&o.operator.ProbeAddress, "health-probe-bind-address", ":8081",
		"address of /healthz and /readyz; 0 serves none")
	fs.IntVar(&o.operator.Metrics.PerNodeLimit, "per-node-metrics-limit", 1000,
		"expose series for each node while there are at most this many GPU nodes; 0 never does")
	fs.BoolVar(&o.operator.Metrics.Namespaces, "namespace-metrics", false,
		"expose what each namespace holds; needs --allocation")
	fs.BoolVar(&o.operator.Inputs.Allocation, "allocation", true,
		"read Pods, and ResourceClaims, to tell who holds GPUs; needs the permission to list and watch them")
	fs.BoolVar(&o.operator.Inputs.DRA, "dra", true,
		"read what DRA drivers publish when the API server serves it; needs the permission to list and watch it")
	fs.Var((*stringList)(&o.operator.Inputs.Recognition.ExtraResources), "extra-gpu-resources",
		"further extended resource names that count as GPUs, comma-separated; example.com/gpu*: a prefix, -example.com/gpu: never counts")
	fs.BoolVar(&o.operator.InstallCRDs, "install-crds", false,
		"create or update the GpuInventory CRD at start, for runs without the Helm chart; needs the permission to do so")
	fs.StringVar(&o.inventoryFile, "inventory-file", "",
		"path of a YAML file with one GpuInventory, which the leader applies at the start of its term; needs the permission to create and patch it; empty: none")
	fs.TextVar(&o.logging.level, "log-level", slog.LevelInfo,
		"debug, info, warn or error")
	fs.StringVar(&o.logging.format, "log-format", "json",
		"json or text")
	fs.BoolVar(&o.version, "version", false,
		"print the version and exit")
	fs.Usage = func() {
		usage(fs, "manager keeps GpuInventory objects and a ConfigMap equal to the GPUs of a cluster. It only reads Nodes.\n"+
			"manager check asks a running operator whether it does its work, see manager check --help.")
	}
}

// validate returns an error for every flag that cannot work, each with what would work. It reads the inventory file.
func (o *options) validate() error {
	var errs []error
	if o.namespace == "" {
		errs = append(errs, errors.New("--namespace is empty: name the namespace for the ConfigMap and the Lease, or set POD_NAMESPACE"))
	} else if msgs := validation.IsDNS1123Label(o.namespace); len(msgs) > 0 {
		errs = append(errs, fmt.Errorf("--namespace %q: %s", o.namespace, strings.Join(msgs, "; ")))
	}
	for _, name := range []struct{ flag, value string }{
		{"configmap-name", o.operator.ConfigMap.Name}, {"leader-election-id", o.leaseName},
	} {
		if msgs := validation.IsDNS1123Subdomain(name.value); len(msgs) > 0 {
			errs = append(errs, fmt.Errorf("--%s %q: %s", name.flag, name.value, strings.Join(msgs, "; ")))
		}
	}
	if o.operator.Metrics.PerNodeLimit < 0 {
		errs = append(errs, fmt.Errorf("--per-node-metrics-limit %d: use 0 for no series by node", o.operator.Metrics.PerNodeLimit))
	}
	if o.operator.Metrics.Namespaces && !o.operator.Inputs.Allocation {
		errs = append(errs, errors.New("--namespace-metrics needs --allocation: without reading Pods it is not known who holds GPUs"))
	}
	if o.operator.Metrics.CertDir != "" && !o.operator.Metrics.Secure {
		errs = append(errs, errors.New("--metrics-cert-dir needs --metrics-secure: without TLS there is no use for a certificate"))
	}
	errs = append(errs, o.readInventoryFile())
	if o.logging.format != "json" && o.logging.format != "text" {
		errs = append(errs, fmt.Errorf("--log-format %q: use json or text", o.logging.format))
	}
	o.complete()
	return errors.Join(errs...)
}

// complete sets the options of the operator that come from two flags.
func (o *options) complete() {
	o.operator.ConfigMap.Namespace = o.namespace
	if o.leaderElect {
		o.operator.Lease = types.NamespacedName{Namespace: o.namespace, Name: o.leaseName}
	}
}

func (o *options) readInventoryFile() (err error) {
	if o.inventoryFile == "" {
		return nil
	}
	if o.operator.Inventory, err = inventoryfile.Read(o.inventoryFile); err != nil {
		return fmt.Errorf("--inventory-file: %w", err)
	}
	return nil
}

func usage(fs *flag.FlagSet, what string) {
	out := fs.Output()
	_, _ = io.WriteString(out, what+"\n\nFlags:\n")
	fs.VisitAll(func(f *flag.Flag) {
		value := f.DefValue
		if value == "" {
			value = `""`
		}
		_, _ = fmt.Fprintf(out, "  --%s (default %s)\n        %s\n", f.Name, value, f.Usage)
	})
}

// stringList is a comma-separated flag.
type stringList []string

// String implements flag.Value.
func (l *stringList) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *stringList) Set(value string) error {
	*l = nil
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			*l = append(*l, item)
		}
	}
	return nil
}
