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

// certificates is where a TLS server gets its certificate from.
type certificates interface {
	// certificate returns the certificate to serve now, or an error while there is none.
	certificate() (*tls.Certificate, error)
	// run keeps the certificate up to date until ctx ends.
	run(ctx context.Context)
}

// A self-signed certificate is replaced when it is valid for less than renewBefore.
const (
	selfSignedFor = 365 * 24 * time.Hour
	renewBefore   = selfSignedFor / 3
)

// selfSigned makes its own certificate and keeps it in memory. Nobody can read what a client that does not verify it
// receives, but somebody else could answer the client in the operator's place.
type selfSigned struct {
	host string

	mu      sync.Mutex
	current *tls.Certificate
}

// run implements certificates. There is nothing to watch.
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
		NotBefore:    now.Add(-time.Hour), // for clients whose clock is slow
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
