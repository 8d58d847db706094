package run

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/behave"
)

// defaultValidity is how long certificates are valid by default.
const defaultValidity = 24 * time.Hour

// issued is a certificate of a case.
type issued struct {
	spec behave.Certificate
	tls.Certificate
}

// issue creates the certificates of a case, authorities before those that they sign. authorities is
// the server whose URLs they name.
func issue(certificates map[string]behave.Certificate, authorities *authorityServer, now time.Time) (map[string]issued, error) {
	all := map[string]issued{}
	var one func(name string, above []string) (issued, error)
	one = func(name string, above []string) (issued, error) {
		if done, ok := all[name]; ok {
			return done, nil
		}
		spec, known := certificates[name]
		if !known {
			return issued{}, fmt.Errorf("there is no certificate %s", name)
		}
		if slices.Contains(above, name) {
			return issued{}, fmt.Errorf("certificate %s signs itself through others", name)
		}
		var signer *issued
		if spec.SignedBy != "" {
			by, err := one(spec.SignedBy, append(above, name))
			if err != nil {
				return issued{}, err
			}
			signer = &by
		}
		made, err := sign(name, spec, signer, authorities, now)
		if err != nil {
			return issued{}, fmt.Errorf("certificate %s: %w", name, err)
		}
		all[name] = made
		return made, nil
	}
	for _, name := range slices.Sorted(maps.Keys(certificates)) {
		if _, err := one(name, nil); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// sign creates one certificate, signed by signer or, if that is nil, by itself.
func sign(name string, spec behave.Certificate, signer *issued, authorities *authorityServer, now time.Time) (issued, error) {
	key, err := newKey(spec.Key)
	if err != nil {
		return issued{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return issued{}, err
	}
	common := spec.CommonName
	if common == "" && len(spec.Hosts) > 0 {
		common = spec.Hosts[0]
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: cmp.Or(common, name)},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(cmp.Or(spec.Valid, defaultValidity)),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},

		BasicConstraintsValid: true,
	}
	if !template.NotAfter.After(template.NotBefore) {
		template.NotBefore = template.NotAfter.Add(-time.Hour)
	}
	if spec.Authority {
		template.IsCA, template.KeyUsage, template.ExtKeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign, nil
	}
	template.IssuingCertificateURL, template.OCSPServer = authorities.references(name, spec)
	for _, host := range spec.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	parent, parentKey := template, key
	if signer != nil {
		parent, parentKey = signer.Leaf, signer.PrivateKey.(crypto.Signer)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return issued{}, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return issued{}, err
	}
	made := issued{spec, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}}
	if signer != nil && signer.spec.SignedBy != "" { // an intermediate authority
		made.Certificate.Certificate = append(made.Certificate.Certificate, signer.Certificate.Certificate...)
	}
	return made, nil
}

// revocations returns the list of the certificates that an authority has revoked, in PEM.
func (i issued) revocations(all map[string]issued, now time.Time) ([]byte, error) {
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: now.Add(-time.Hour), NextUpdate: now.Add(defaultValidity)}
	for _, name := range i.spec.Revokes {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: all[name].Leaf.SerialNumber, RevocationTime: list.ThisUpdate})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, i.Leaf, i.PrivateKey.(crypto.Signer))
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der}), nil
}

func newKey(algorithm string) (crypto.Signer, error) {
	if algorithm == "rsa" {
		return rsa.GenerateKey(rand.Reader, 2048)
	}
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// chain returns the certificate and the intermediate authorities in PEM.
func (i issued) chain() []byte {
	var all []byte
	for _, der := range i.Certificate.Certificate {
		all = append(all, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return all
}

// pems returns the certificate and its key in PEM.
func (i issued) pems() (certificate, key []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(i.PrivateKey)
	if err != nil {
		return nil, nil, err
	}
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Leaf.Raw})
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// secrets returns the Secrets of a case's certificates. An authority has only ca.crt, and ca.crl if
// it revokes any. Any other certificate has tls.crt and tls.key, and ca.crt if an authority of the
// case signed it.
func secrets(c *behave.Case, all map[string]issued, now time.Time) ([]*corev1.Secret, error) {
	var made []*corev1.Secret
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one := all[name]
		if one.spec.Namespace == behave.NoSecret {
			continue
		}
		certificate, key, err := one.pems()
		if err != nil {
			return nil, fmt.Errorf("certificate %s: %w", name, err)
		}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: cmp.Or(one.spec.Namespace, Namespace(c))}}
		if one.spec.Authority {
			secret.Type, secret.Data = corev1.SecretTypeOpaque, map[string][]byte{"ca.crt": certificate}
			if len(one.spec.Revokes) > 0 {
				if secret.Data["ca.crl"], err = one.revocations(all, now); err != nil {
					return nil, fmt.Errorf("revocation list of certificate %s: %w", name, err)
				}
			}
		} else {
			secret.Type = corev1.SecretTypeTLS
			secret.Data = map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}
			if signer, ok := all[one.spec.SignedBy]; ok {
				authority, _, err := signer.pems()
				if err != nil {
					return nil, err
				}
				secret.Data["ca.crt"] = bytes.Clone(authority)
			}
		}
		made = append(made, secret)
	}
	return made, nil
}
