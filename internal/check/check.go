package check

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// DefaultTokenFile is where a pod finds the token of its ServiceAccount.
const DefaultTokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token"

const (
	// requestTimeout bounds one request, retryPeriod is the pause between two.
	requestTimeout = 10 * time.Second
	retryPeriod    = time.Second
	// maxBody is how much of an answer is read. A scrape of thousands of Nodes has a few megabytes.
	maxBody = 64 << 20
	// buildInfo is a series that every replica exposes, leader or not.
	buildInfo = "\ngpu_inventory_build_info{"
)

// Options say what to check. An empty field is not checked.
type Options struct {
	// ReadyURL is the URL of /readyz.
	ReadyURL string
	// MetricsURL is the URL of /metrics.
	MetricsURL string
	// Inventory is the name of a GpuInventory.
	Inventory string
	// Reader reads the GpuInventory.
	Reader client.Reader
	// TokenFile has the token for an https MetricsURL. It is never sent in plain text.
	TokenFile string
	// CAFile has the certificates that verify the one of MetricsURL. If it is empty, those of the system do.
	CAFile string
	// InsecureSkipVerify accepts any certificate, which a self-signed one needs.
	InsecureSkipVerify bool
	// Timeout is how long a check that fails is tried again.
	Timeout time.Duration
}

// Result is how one check went.
type Result struct {
	// Name says what was checked.
	Name string
	// Err is why the check failed. It is nil if it passed.
	Err error
}

// Run makes one check after the other. They share one timeout, but each is made at least once, so that one that cannot pass
// does not prevent the others.
func Run(ctx context.Context, o Options) []Result {
	deadline := time.Now().Add(o.Timeout)
	var results []Result
	run := func(name string, check func(context.Context) error) {
		results = append(results, Result{name, untilDeadline(ctx, deadline, check)})
	}
	if o.ReadyURL != "" {
		run("ready "+o.ReadyURL, o.ready)
	}
	if o.Inventory != "" {
		run("gpuinventory "+o.Inventory, o.inventory)
	}
	if o.MetricsURL != "" {
		run("metrics "+o.MetricsURL, o.metrics)
	}
	return results
}

func untilDeadline(ctx context.Context, deadline time.Time, check func(context.Context) error) error {
	for {
		err := once(ctx, check)
		if err == nil || time.Now().Add(retryPeriod).After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retryPeriod):
		}
	}
}

func once(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return check(ctx)
}

func (o Options) ready(ctx context.Context) error {
	_, err := get(ctx, http.DefaultTransport, o.ReadyURL, "")
	return err
}

func (o Options) inventory(ctx context.Context) error {
	var inv v1.GpuInventory
	err := o.Reader.Get(ctx, client.ObjectKey{Name: o.Inventory}, &inv)
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; whoever checks needs get on gpuinventories", err)
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return fmt.Errorf("%w; install the chart with inventory.create=true, or create one", err)
	case err != nil:
		return err
	case inv.Status.ObservedAt == nil:
		return errors.New("it has no status: no operator has written it yet")
	default:
		return nil
	}
}

func (o Options) metrics(ctx context.Context) error {
	transport, token, err := o.scraper()
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	body, err := get(ctx, transport, o.MetricsURL, token)
	if err != nil {
		return err
	}
	if !strings.Contains("\n"+body, buildInfo) {
		return errors.New("the answer has no gpu_inventory_build_info: something else answers there")
	}
	return nil
}

// scraper returns the transport and the token for a scrape of MetricsURL.
func (o Options) scraper() (*http.Transport, string, error) {
	transport := &http.Transport{Proxy: nil}
	target, err := url.Parse(o.MetricsURL)
	if err != nil {
		return nil, "", err
	}
	if target.Scheme != "https" {
		return transport, "", nil
	}
	transport.TLSClientConfig = &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: o.InsecureSkipVerify, //nolint:gosec // the user asked for it
	}
	if o.CAFile != "" {
		content, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, "", fmt.Errorf("read --ca-file: %w", err)
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(content) {
			return nil, "", fmt.Errorf("--ca-file %s has no certificate", o.CAFile)
		}
	}
	token, err := os.ReadFile(o.TokenFile)
	if err != nil {
		return nil, "", fmt.Errorf("read --token-file: %w", err)
	}
	return transport, strings.TrimSpace(string(token)), nil
}

// get returns the body of an answer with status 200. It does not follow redirects, because the token is only for target.
func get(ctx context.Context, transport http.RoundTripper, target, token string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return "", err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	c := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is lost
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return "", fmt.Errorf("read answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("answer %s: %s", resp.Status, firstLine(string(body)))
	}
	return string(body), nil
}

// firstLine puts the beginning of a body on one line, so that a report has one line for each check.
func firstLine(body string) string {
	const most = 300
	line := strings.Join(strings.Fields(body), " ")
	if len(line) > most {
		line = line[:most] + "..."
	}
	return line
}
