package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/check"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/operator"
)

// checkOptions are the flags of manager check.
type checkOptions struct {
	check.Options
	kubeconfig string
}

func (o *checkOptions) register(fs *flag.FlagSet) {
	fs.StringVar(&o.ReadyURL, "ready-url", "", "URL of /readyz, which must answer 200; empty: not checked")
	fs.StringVar(&o.MetricsURL, "metrics-url", "", "URL of /metrics, whose answer must have gpu_inventory_build_info; empty: not checked")
	fs.StringVar(&o.Inventory, "inventory", "", "name of a GpuInventory, which must exist and have a status; empty: not checked")
	fs.StringVar(&o.TokenFile, "token-file", check.DefaultTokenFile, "file with the bearer token for an https --metrics-url")
	fs.StringVar(&o.CAFile, "ca-file", "", "file with the certificates by which to verify --metrics-url; empty: those of the system")
	fs.BoolVar(&o.InsecureSkipVerify, "insecure-skip-verify", false, "take any certificate of --metrics-url, as a self-signed one needs")
	fs.DurationVar(&o.Timeout, "timeout", 30*time.Second, "how long to try again before a check has failed; 0: once")
	fs.StringVar(&o.kubeconfig, "kubeconfig", "", "path of a kubeconfig file for --inventory outside a cluster, as for the manager")
	fs.Usage = func() {
		usage(fs, "manager check asks a running operator whether it does its work. It exits 0 when all checks pass, 1 when one fails.")
	}
}

// validate reports the first flag that cannot work.
func (o *checkOptions) validate() error {
	if o.ReadyURL == "" && o.MetricsURL == "" && o.Inventory == "" {
		return errors.New("nothing to check: give --ready-url, --metrics-url or --inventory")
	}
	for _, target := range []struct{ flag, value string }{{"ready-url", o.ReadyURL}, {"metrics-url", o.MetricsURL}} {
		if target.value != "" && !isURL(target.value) {
			return fmt.Errorf("--%s %q: use a URL such as http://name:8081/readyz", target.flag, target.value)
		}
	}
	if o.InsecureSkipVerify && o.CAFile != "" {
		return errors.New("--insecure-skip-verify and --ca-file exclude each other: either verify the certificate or do not")
	}
	if o.Timeout < 0 {
		return fmt.Errorf("--timeout %s: use 0 to check once", o.Timeout)
	}
	return nil
}

func isURL(s string) bool {
	parsed, err := url.Parse(s)
	return err == nil && parsed.Host != "" && (parsed.Scheme == "http" || parsed.Scheme == "https")
}

// runCheck is manager check. It returns the exit code: 0 when all is well, 1 when a check has failed, 2 for flags that
// cannot work.
func runCheck(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var o checkOptions
	fs := flag.NewFlagSet("manager check", flag.ContinueOnError)
	o.register(fs)
	if code, ok := parse(fs, args, stderr); !ok {
		return code
	}
	if err := o.validate(); err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return 2
	}
	if o.Inventory != "" {
		var err error
		if o.Reader, err = inventoryReader(o.kubeconfig); err != nil {
			_, _ = fmt.Fprintln(stderr, err)
			return 1
		}
	}
	code := 0
	for _, result := range check.Run(ctx, o.Options) {
		if result.Err != nil {
			_, _ = fmt.Fprintf(stderr, "FAILED %s: %v\n", result.Name, result.Err)
			code = 1
			continue
		}
		_, _ = fmt.Fprintf(stdout, "ok     %s\n", result.Name)
	}
	return code
}

// inventoryReader returns a reader of GpuInventories that makes one request for each and does not ask what the API server
// serves.
func inventoryReader(kubeconfig string) (client.Reader, error) {
	cfg, err := operator.RESTConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1.GroupVersion.WithKind(v1.Kind), meta.RESTScopeRoot)
	return client.New(cfg, client.Options{Scheme: scheme, Mapper: mapper})
}
