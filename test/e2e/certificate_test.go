package e2e

import (
	"bytes"
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
)

// certificate is a server's certificate for the metrics, with its key and the CA that signed it, in PEM.
type certificate struct{ cert, key, ca string }

// certificates are two, of two CAs.
var certificates [2]certificate

func makeCertificates() {
	GinkgoHelper()
	for i := range certificates {
		chain, key, err := cert.GenerateSelfSignedCertKey(metricsHost, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		ca := bytes.LastIndex(chain, []byte("-----BEGIN")) // the server's comes first
		certificates[i] = certificate{cert: string(chain[:ca]), key: string(key), ca: string(chain[ca:])}
	}
}

func withACertificate() {
	secret := func(c certificate) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "metrics-certificate"}, Type: corev1.SecretTypeTLS,
			StringData: map[string]string{corev1.TLSCertKey: c.cert, corev1.TLSPrivateKeyKey: c.key, "ca.crt": c.ca},
		}
	}

	It("a Prometheus that checks the certificate can scrape", func(ctx context.Context) {
		needsPrometheus()
		Eventually(targets(ctx, jobFirstCA)).Should(bothAre(HaveField("LastError", ContainSubstring("x509"))), "the certificate is self-signed as yet")
		Expect(k8s.Create(ctx, secret(certificates[0]))).To(Succeed())
		Expect(helm.upgrade(ctx, map[string]any{"metrics": map[string]any{"certificate": map[string]any{"secretName": "metrics-certificate"}}})).To(Succeed())
		Eventually(targets(ctx, jobFirstCA)).Should(bothAre(up))
	}, SpecTimeout(3*time.Minute))

	It("a certificate that replaces it in the Secret is served without a restart", func(ctx context.Context) {
		needsPrometheus()
		before, err := operatorPods(ctx)
		Expect(err).NotTo(HaveOccurred())
		replaced := time.Now()
		Expect(k8s.Update(ctx, secret(certificates[1]))).To(Succeed())
		// It takes a kubelet up to two minutes to bring it to the volume.
		Eventually(targets(ctx, jobSecondCA)).WithTimeout(3 * time.Minute).Should(bothAre(up))
		AddReportEntry("served after the Secret was changed", time.Since(replaced).Round(time.Second).String())
		after, err := operatorPods(ctx)
		Expect(err).NotTo(HaveOccurred())
		for i := range after {
			Expect(after[i].UID).To(Equal(before[i].UID))
			Expect(after[i].Status.ContainerStatuses[0].RestartCount).To(BeZero())
		}
	}, SpecTimeout(4*time.Minute))
}
