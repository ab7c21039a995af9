package envtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

// secureURL is where an operator with secured metrics serves them.
func (o *operator) secureURL() string {
	return strings.Replace(o.MetricsURL, "http://", "https://", 1) + "/metrics"
}

// scrape asks for metrics over TLS and returns the HTTP status and the answer; roots may be nil: any certificate will do.
func (o *operator) scrape(token string, roots *x509.CertPool) (int, string, error) {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, InsecureSkipVerify: roots == nil}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequest(http.MethodGet, o.secureURL(), http.NoBody)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is lost
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

// scrapeCode is the HTTP status alone.
func (o *operator) scrapeCode(token string) func() (int, error) {
	return func() (int, error) {
		code, _, err := o.scrape(token, nil)
		return code, err
	}
}

// scraper makes a ServiceAccount and returns its token; with may it gets the role of the chart for scrapers.
func scraper(ctx context.Context, name string, may bool) string {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	Expect(client.IgnoreAlreadyExists(k8s.Create(ctx, account))).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(client.IgnoreNotFound(k8s.Delete(ctx, account))).To(Succeed()) })
	if may {
		bindScraper(ctx, name)
	}
	cfg, err := harness.ServiceAccountConfig(ctx, controlPlane.Config, namespace, name)
	Expect(err).NotTo(HaveOccurred())
	return cfg.BearerToken
}

func bindScraper(ctx context.Context, name string) {
	GinkgoHelper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "scraper-" + name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: release + "-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: name}},
	}
	Expect(k8s.Create(ctx, binding)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(client.IgnoreNotFound(k8s.Delete(ctx, binding))).To(Succeed()) })
}

var _ = Describe("The metrics over TLS", func() {
	BeforeEach(func(ctx context.Context) {
		freshCluster(ctx)
		createNodes(ctx, gpuNode("a", 8))
	})

	It("are for those whom the API server lets get the path", func(ctx context.Context) {
		o := startOperator(ctx, "--metrics-secure")
		Eventually(o.ready).Should(Succeed())

		Expect(o.scrapeCode("")()).To(Equal(http.StatusUnauthorized))
		Eventually(o.scrapeCode("nobody")).Should(Equal(http.StatusUnauthorized))
		stranger := scraper(ctx, "stranger", false)
		Eventually(o.scrapeCode(stranger)).Should(Equal(http.StatusForbidden))
		_, body, err := o.scrape(stranger, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(body).To(And(ContainSubstring("system:serviceaccount:"+namespace+":stranger"), ContainSubstring("metrics-reader"),
			Not(ContainSubstring("gpu_inventory_build_info"))))

		resp, err := http.Get(o.MetricsURL + "/metrics")
		Expect(err).NotTo(HaveOccurred())
		Expect(resp.Body.Close()).To(Succeed())
		Expect(resp.StatusCode).To(Equal(http.StatusBadRequest), "plain HTTP")

		token := scraper(ctx, "prometheus", true)
		Eventually(o.scrapeCode(token)).Should(Equal(http.StatusOK))
		Eventually(func() (string, error) { _, body, err := o.scrape(token, nil); return body, err }).
			Should(ContainSubstring(`gpu_inventory_gpus{inventory="cluster"`))

		By("a permission that is given while the operator runs")
		bindScraper(ctx, "stranger")
		Eventually(o.scrapeCode(stranger), "20s").Should(Equal(http.StatusOK))

		By("scrapes that follow, which ask nothing")
		o.proxy.Reset()
		for range 20 {
			Expect(o.scrapeCode(token)()).To(Equal(http.StatusOK))
		}
		Expect(o.proxy.Requests(func(r harness.Request) bool { return strings.HasSuffix(r.Resource, "reviews") })).To(BeEmpty())

		By("a standby")
		standby := startOperator(ctx, "--metrics-secure")
		Eventually(standby.scrapeCode(token)).Should(Equal(http.StatusOK))
		Expect(standby.scrapeCode("")()).To(Equal(http.StatusUnauthorized))
	})

	It("are for nobody while the API server cannot be asked, and the inventory goes on", func(ctx context.Context) {
		o := startOperator(ctx, "--metrics-secure")
		o.proxy.SetFault(forbidden("tokenreviews"))
		token := scraper(ctx, "prometheus", true)
		Eventually(o.scrapeCode(token)).Should(Equal(http.StatusServiceUnavailable))
		Eventually(o.Logged).WithArguments("Cannot check who scrapes, refusing scrapes; the role of the chart has the permissions with metrics.secure=true").
			Should(HaveLen(1))
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
		o.proxy.SetFault(nil)
		Eventually(o.scrapeCode(token)).Should(Equal(http.StatusOK))
	})

	It("have the certificate of a directory, for which the operator waits and which it reads again", func(ctx context.Context) {
		dir := GinkgoT().TempDir()
		put := func(host string) *x509.CertPool {
			GinkgoHelper()
			certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
			Expect(err).NotTo(HaveOccurred())
			Expect(os.WriteFile(filepath.Join(dir, "tls.key"), keyPEM, 0o600)).To(Succeed())
			Expect(os.WriteFile(filepath.Join(dir, "tls.crt"), certPEM, 0o600)).To(Succeed())
			roots := x509.NewCertPool()
			Expect(roots.AppendCertsFromPEM(certPEM)).To(BeTrue())
			return roots
		}
		o := startOperator(ctx, "--metrics-secure", "--metrics-cert-dir="+dir)
		token := scraper(ctx, "prometheus", true)
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}), "the inventory does not wait for it")
		Eventually(o.Logged).WithArguments("No metrics are served: waiting for the certificate").ShouldNot(BeEmpty())
		Expect(o.ready()).NotTo(Succeed())

		verified := func(roots *x509.CertPool) func() (int, error) {
			return func() (int, error) { code, _, err := o.scrape(token, roots); return code, err }
		}
		first := put("127.0.0.1")
		Eventually(verified(first), "15s").Should(Equal(http.StatusOK))
		Eventually(o.ready).Should(Succeed())
		second := put("127.0.0.1")
		Eventually(verified(second), "15s").Should(Equal(http.StatusOK))
		_, err := verified(first)()
		Expect(err).To(HaveOccurred(), "the old certificate is not served any more")
		Expect(o.Exited()).NotTo(BeClosed())
	})
})

var _ = Describe("manager check", func() {
	It("passes for an operator that works, and says what does not", func(ctx context.Context) {
		freshCluster(ctx)
		createNodes(ctx, gpuNode("a", 8))
		o := startOperator(ctx, "--metrics-secure")
		tokenFile := filepath.Join(GinkgoT().TempDir(), "token")
		Expect(os.WriteFile(tokenFile, []byte(scraper(ctx, "prometheus", true)), 0o600)).To(Succeed())
		check := func(args ...string) (int, string) {
			cmd := exec.CommandContext(ctx, managerBin, append([]string{"check", "--kubeconfig=" + controlPlane.Kubeconfig}, args...)...)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			_ = cmd.Run() // the exit code says it
			return cmd.ProcessState.ExitCode(), out.String()
		}
		all := []string{"--ready-url=" + o.ProbeURL + "/readyz", "--metrics-url=" + o.secureURL(), "--token-file=" + tokenFile, "--insecure-skip-verify"}

		code, out := check(append(all, "--inventory=cluster")...)
		Expect(code).To(Equal(0), out)
		Expect(strings.Count(out, "ok ")).To(Equal(3), out)

		code, out = check(append(all, "--inventory=none", "--timeout=0")...)
		Expect(code).To(Equal(1), out)
		Expect(out).To(ContainSubstring("FAILED gpuinventory none"))
		Expect(strings.Count(out, "\n")).To(Equal(3), out)
	})
})
