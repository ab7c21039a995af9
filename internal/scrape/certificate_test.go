package scrape

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSelfSignedIsRenewedBeforeItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &selfSigned{host: "pod-1"}
		first, err := s.certificate()
		if err != nil {
			t.Fatal(err)
		}
		if err := first.Leaf.VerifyHostname("pod-1"); err != nil {
			t.Error(err)
		}
		if _, ok := first.PrivateKey.(*ecdsa.PrivateKey); !ok {
			t.Errorf("the key is a %T", first.PrivateKey)
		}
		time.Sleep(selfSignedFor - renewBefore - time.Hour)
		if again, _ := s.certificate(); again != first {
			t.Error("renewed although most of its life is left")
		}
		time.Sleep(2 * time.Hour)
		second, err := s.certificate()
		if err != nil || second == first || !second.Leaf.NotAfter.After(first.Leaf.NotAfter) {
			t.Errorf("not renewed: until %s, before %s, %v", second.Leaf.NotAfter, first.Leaf.NotAfter, err)
		}
	})
}

// pair is a certificate and its key as files have them.
func pair(t *testing.T, host string) (cert, key []byte) {
	t.Helper()
	made, err := makeCertificate(host, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// mount is a Secret as a kubelet mounts it: the files are links into a directory that is replaced as a whole.
type mount struct {
	t    *testing.T
	root string
	n    int
}

func newMount(t *testing.T) *mount {
	t.Helper()
	m := &mount{t: t, root: t.TempDir()}
	for _, name := range []string{"tls.crt", "tls.key"} {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(m.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func (m *mount) put(cert, key []byte) {
	m.t.Helper()
	m.n++
	dir := filepath.Join(m.root, strings.Repeat("v", m.n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		m.t.Fatal(err)
	}
	for name, content := range map[string][]byte{"tls.crt": cert, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
	next := filepath.Join(m.root, "..next")
	if err := os.Symlink(dir, next); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(m.root, "..data")); err != nil {
		m.t.Fatal(err)
	}
}

func serves(t *testing.T, c certificates, host string) {
	t.Helper()
	cert, err := c.certificate()
	if err != nil {
		t.Fatalf("no certificate: %v", err)
	}
	if got := cert.Leaf.Subject.CommonName; got != host {
		t.Errorf("serves the certificate of %s, want that of %s", got, host)
	}
}

func TestCertificateFilesAreReadAgainAndABadPairChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines := logLines(t)
		m := newMount(t)
		certs, err := newCertificates(m.root, log)
		if err != nil {
			t.Fatal(err)
		}
		go certs.run(t.Context())
		within := func(what string) { // what has to happen within 15 s
			t.Helper()
			t.Log(what)
			time.Sleep(15 * time.Second)
			synctest.Wait()
		}
		logged := func(message string) int {
			return strings.Count(strings.Join(lines(), "\n"), message)
		}

		within("no files yet")
		if cert, err := certs.certificate(); cert != nil || err == nil || !strings.Contains(err.Error(), "tls.crt") {
			t.Errorf("certificate() = %v, %v; want an error that names the file", cert, err)
		}
		if got := logged("waiting for the certificate"); got != 2 {
			t.Errorf("said so %d times in 15 s, want at once and after 10 s: %q", got, lines())
		}

		certA, keyA := pair(t, "a")
		m.put(certA, keyA)
		within("the first pair")
		serves(t, certs, "a")

		certB, keyB := pair(t, "b")
		m.put(certB, keyA)
		within("a certificate with the key of another")
		serves(t, certs, "a")
		m.put(certB[:len(certB)/2], keyB)
		within("half a certificate")
		serves(t, certs, "a")
		m.put(certB[:len(certB)/2], keyB)
		within("the same trouble for longer")
		if got := logged("keeping the old one"); got != 2 {
			t.Errorf("logged %d troubles, want each of the two once: %q", got, lines())
		}

		m.put(certB, keyB)
		within("the whole pair")
		serves(t, certs, "b")
		if err := os.Remove(filepath.Join(m.root, "tls.key")); err != nil {
			t.Fatal(err)
		}
		within("a file that has gone")
		serves(t, certs, "b")
		if got := logged("Loaded the certificate"); got != 2 {
			t.Errorf("loaded %d times, want 2: %q", got, lines())
		}
	})
}

func TestANewChainForTheSameCertificateIsTaken(t *testing.T) {
	log, _ := logLines(t)
	m := newMount(t)
	cert, key := pair(t, "a")
	m.put(cert, key)
	certs, err := newCertificates(m.root, log)
	if err != nil {
		t.Fatal(err)
	}
	intermediate, _ := pair(t, "issuer")
	m.put(bytes.Join([][]byte{cert, intermediate}, nil), key)
	certs.(*fromFiles).refresh(time.Now())
	var got *tls.Certificate
	if got, err = certs.certificate(); err != nil || len(got.Certificate) != 2 {
		t.Errorf("a chain of %d, %v; want 2", len(got.Certificate), err)
	}
}

func TestAnExpiredCertificateIsServedAndSaid(t *testing.T) {
	log, lines := logLines(t)
	m := newMount(t)
	m.put(pair(t, "a"))
	certs := &fromFiles{certFile: filepath.Join(m.root, "tls.crt"), keyFile: filepath.Join(m.root, "tls.key"), log: log}
	certs.refresh(time.Now().Add(2 * selfSignedFor))
	serves(t, certs, "a")
	if got := strings.Join(lines(), "\n"); !strings.Contains(got, "has expired") {
		t.Errorf("logged %q", got)
	}
}
