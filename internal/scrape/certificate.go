package scrape

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// certificates is where the certificate of a TLS server comes from. An error is for the client and the probe: there is
// none yet.
type certificates interface {
	certificate() (*tls.Certificate, error)
	// run keeps it current until ctx ends.
	run(ctx context.Context)
}

// A self-signed certificate is replaced when less than renewBefore of its life is left.
const (
	selfSignedFor = 365 * 24 * time.Hour
	renewBefore   = selfSignedFor / 3
)

// selfSigned makes the certificate itself and keeps it in memory. A client that does not verify it is safe from those
// who listen, not from those who answer in the operator's place.
type selfSigned struct {
	host string

	mu      sync.Mutex
	current *tls.Certificate
}

// run implements certificates: there is nothing to watch.
func (s *selfSigned) run(context.Context) {}

func (s *selfSigned) certificate() (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.current != nil && now.Before(s.current.Leaf.NotAfter.Add(-renewBefore)) {
		return s.current, nil
	}
	made, err := makeCertificate(s.host, now)
	if err != nil {
		return nil, err
	}
	s.current = made
	return made, nil
}

func makeCertificate(host string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: host},
		NotBefore:    now.Add(-time.Hour), // for clients whose clock is late
		NotAfter:     now.Add(selfSignedFor),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{host, "localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},

		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}
